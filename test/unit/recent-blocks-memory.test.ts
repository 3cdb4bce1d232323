import { setTimeout as wait } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { context, createContextKey, ROOT_CONTEXT, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { EventLoopInstrumentation, EventLoopSpanProcessor } from '../../src/index.ts';
import { runDelayMillis } from '../support/thread-times.cjs';
import { unixTime } from '../support/unix-time.cjs';
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from './support/sdk.ts';

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
