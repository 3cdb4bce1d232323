import { setTimeout as wait } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { context, createContextKey, ROOT_CONTEXT, type Span, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import type { Block } from '../../src/block.ts';
import { stallsOfThread } from '../../src/core/stalls/stalls.ts';
import { EventLoopInstrumentation, EventLoopSpanProcessor } from '../../src/index.ts';
import { runDelayMillis } from '../support/thread-times.cjs';
import { unixTime } from '../support/unix-time.cjs';
import { FakeClock } from './support/fake-clock.ts';
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from './support/sdk.ts';
import { stallSession } from './support/stall-session.ts';

const THRESHOLD = 20;

const runDelay = () => runDelayMillis() ?? 0;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

afterEach(() => {
  context.disable();
  trace.disable();
});

/** Blocks in a context with something large, as that of a request does. */
function blockInContext(): WeakRef<object> {
  const request = { body: new Array(1000).fill('x') };
  context.with(ROOT_CONTEXT.setValue(createContextKey('request'), request), () => {
    // Not counting the time in which the thread has no CPU: that is taken off a block.
    const end = performance.now() + 2 * THRESHOLD - runDelay();
    while (performance.now() < end + runDelay());
  });
  return new WeakRef(request);
}

test('a block that is remembered for stalled spans keeps nothing of what blocked alive', async () => {
  const exporter = new InMemorySpanExporter();
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  const processor = new EventLoopSpanProcessor();
  trace.setGlobalTracerProvider(
    new TracerProvider({ spanProcessors: [processor, new SimpleSpanProcessor({ exporter })] }),
  );
  const instrumentation = new EventLoopInstrumentation({
    thresholdMillis: THRESHOLD,
    captureStack: false,
  });
  await wait(5);

  let request: WeakRef<object> | undefined;
  let blockedAt = Number.POSITIVE_INFINITY;
  await new Promise<void>((resolve) => {
    setTimeout(() => {
      blockedAt = unixTime();
      request = blockInContext();
      resolve();
    }, 1);
  });
  // It is reported, and nothing on the stack refers to it any more. There may have been one before
  // it; and if the thread has no CPU for long, timers go on without the loop turning once.
  const isReported = () =>
    exporter
      .getFinishedSpans()
      .some(
        ({ name, endTime: [seconds, nanos] }) =>
          name === 'event-loop-blocked' && seconds * 1e3 + nanos / 1e6 > blockedAt,
      );
  for (let i = 0; i < 100 && !isReported(); i++) await wait(10);
  await wait(10);
  expect(isReported()).toBe(true);
  collectGarbage();
  await wait(5);
  collectGarbage();
  expect(request?.deref()).toBeUndefined();

  instrumentation.disable();
  await processor.shutdown();
});

test('remembered pile-ups keep nothing of the spans that ran in them and have ended', async () => {
  const stalls = stallsOfThread();
  const clock = new FakeClock();
  const session = stallSession({ clock });
  stalls.start(session);
  stalls.watch();
  const tracer = new TracerProvider().getTracer('app');
  /** A request of ten spans, one inside the other, that has ended. */
  const ran = () => {
    const spans: Span[] = [];
    let around = ROOT_CONTEXT;
    for (let depth = 0; depth < 10; depth++) {
      const span = tracer.startSpan('ran', {}, around);
      stalls.started(span, around);
      spans.push(span);
      around = trace.setSpan(around, span);
    }
    for (const span of spans) {
      stalls.ending(span);
      span.end();
    }
    return { context: around, millis: 3 };
  };
  const addBlock = (i: number) => {
    const block = {
      kind: 'pile-up',
      start: 200 * i,
      end: 200 * i + 100,
      ran: Array.from({ length: 32 }, ran),
    } as unknown as Block;
    const span = { spanContext: () => undefined, addQueued: () => {}, onReported: () => {} };
    stalls.spansAt(block)?.add(span);
  };
  const heapUsed = async () => {
    collectGarbage();
    await wait(1);
    collectGarbage();
    return process.memoryUsage().heapUsed;
  };
  for (let i = 0; i < 10; i++) addBlock(i);
  const before = await heapUsed();
  for (let i = 10; i < 300; i++) addBlock(i);
  // Their 93 000 ids would take 13 MB.
  expect((await heapUsed()) - before).toBeLessThan(3e6);
  stalls.unwatch();
  stalls.stop(session);
});
