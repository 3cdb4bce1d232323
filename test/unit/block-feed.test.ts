import { createHook } from 'node:async_hooks';
import { setImmediate as nextIteration } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { ROOT_CONTEXT, type Span, SpanKind, trace } from '@opentelemetry/api';
import type { Block } from '../../src/block.ts';
import { toHrTime } from '../../src/otel/hr-time.ts';
import { BlockFeed } from '../../src/stalls/block-feed.ts';
import { OpenSpans } from '../../src/stalls/open-spans.ts';
import { stallsOfThread } from '../../src/stalls/stalls.ts';
import { EPOCH, FakeClock } from './support/fake-clock.ts';
import { type ReadableSpan, TracerProvider } from './support/sdk.ts';

const stalls = stallsOfThread();
const openSpans = new OpenSpans();
const tracer = new TracerProvider().getTracer('app');

/** A span of 0 to 10 s in the clock's time. */
function spanInTime(name: string): Span & ReadableSpan {
  const span = tracer.startSpan(name, { kind: SpanKind.SERVER, startTime: toHrTime(EPOCH) });
  openSpans.add(span, ROOT_CONTEXT);
  return Object.assign(span, { endTime: toHrTime(EPOCH + 10_000) }) as Span & ReadableSpan;
}

const block = (more: Partial<Block> = {}): Block => ({
  kind: 'callback',
  start: 2000,
  end: 2150,
  callbacks: 1,
  context: undefined,
  resourceType: undefined,
  cpu: 140,
  samples: [],
  isOwnWork: false,
  ...more,
});

type Arguments = ConstructorParameters<typeof BlockFeed>;
type Ended = Arguments[2]['ended'];
const feedOf = (ongoingPileUp: Arguments[1] = () => undefined, ended: Ended = () => {}) =>
  new BlockFeed(new FakeClock(), ongoingPileUp, { ended, stalled: () => {} });

afterEach(() => {
  stalls.unwatch(openSpans);
  openSpans.clear();
});

test('a block is compared with spans in Unix time, and its span is what a link leads to', () => {
  stalls.watch(openSpans);
  const stalled = spanInTime('stalled');
  const blocking = spanInTime('blocking');
  const feed = feedOf();
  const blockSpan = { spanContext: () => blocking.spanContext() };
  const attributed = block({ context: trace.setSpan(ROOT_CONTEXT, blocking) });
  const around = feed.spansAround(attributed);
  expect(around).toEqual({
    blockingSpanIds: new Set([blocking.spanContext().spanId]),
    stalledSpans: 1,
  });
  if (around !== undefined) feed.add(attributed, around, blockSpan);
  expect(stalls.stallOf(stalled)).toMatchObject({
    millis: 150,
    longest: { start: EPOCH + 2000, end: EPOCH + 2150, span: blockSpan },
  });
  expect(stalls.stallOf(blocking)?.millis).toBe(0);
});

test('promise reactions without a stack sample: no span is called stalled', () => {
  stalls.watch(openSpans);
  spanInTime('open');
  const feed = feedOf();
  expect(feed.spansAround(block({ kind: 'microtasks' }))).toBeUndefined();
  expect(feed.spansAround(block({ kind: 'microtasks', context: ROOT_CONTEXT }))?.stalledSpans).toBe(
    1,
  );
});

test('an ongoing pile-up is given in Unix time, from start to stop', () => {
  const feed = feedOf(() => ({ start: 3000, end: 3200, cpu: 200, context: ROOT_CONTEXT }));
  expect(stalls.ongoing).toBeUndefined();
  feed.start();
  expect(stalls.ongoing?.ongoingPileUp()).toEqual({
    start: EPOCH + 3000,
    end: EPOCH + 3200,
    context: ROOT_CONTEXT,
  });
  feed.stop();
  expect(stalls.ongoing).toBeUndefined();
});

test("a span's own share of a pile-up is given in Unix time", () => {
  const asked: unknown[] = [];
  const feed = feedOf((span) => {
    asked.push(span);
    return { start: 3000, end: 3200, cpu: 200, share: 12 };
  });
  feed.start();
  const span = tracer.startSpan('ends in it');
  expect(stalls.ongoing?.ongoingPileUp(span)).toEqual({
    start: EPOCH + 3000,
    end: EPOCH + 3200,
    share: 12,
  });
  expect(asked).toEqual([span]);
  feed.stop();
});

test('whether a pile-up was a suspension is asked until it was none, at each twentieth', () => {
  const asked: number[] = [];
  let end = 3100;
  const feed = new BlockFeed(
    new FakeClock(),
    () => ({ start: 3000, end, cpu: 100, share: 0 }),
    { ended: () => {}, stalled: () => {} },
    () => {},
    {
      isSuspended: (pileUp) => {
        asked.push(pileUp.end);
        return pileUp.end < 3120;
      },
    },
  );
  feed.start();
  const found: number[] = [];
  for (; end < 3200; end++) if (stalls.ongoing?.ongoingPileUp() !== undefined) found.push(end);
  feed.stop();
  expect(asked).toEqual([3100, 3106, 3112, 3118, 3125]);
  expect(found[0]).toBe(3125);
  expect(found).toHaveLength(75);
});

test('an instrumentation that stops leaves alone the one that has taken its place', () => {
  const counted: string[] = [];
  const earlier = feedOf(undefined, (millis) => counted.push(`earlier ${millis}`));
  const pileUp = { start: 3000, end: 3200, cpu: 200, context: undefined };
  const active = feedOf(
    () => pileUp,
    (millis) => counted.push(`active ${millis}`),
  );
  earlier.start();
  active.start();
  earlier.stop();
  stalls.entrySpanSink?.ended(12);
  expect(stalls.ongoing?.ongoingPileUp()).toBeDefined();
  active.stop();
  stalls.entrySpanSink?.ended(13);
  expect(counted).toEqual(['active 12']);
  expect(stalls.ongoing).toBeUndefined();
});

test('of what one callback made, it is known when that began', () => {
  stalls.watch(openSpans);
  const begun = tracer.startSpan('begun', { startTime: toHrTime(EPOCH + 2010) });
  openSpans.add(begun, ROOT_CONTEXT);
  const feed = feedOf();
  // No Unix time is compared with it.
  expect(feed.spansAround(block())?.stalledSpans).toBe(0);
  expect(feed.spansAround(block({ kind: 'pile-up' }))?.stalledSpans).toBe(1);
});

test('what is kept by async id for the end of a block can be dropped', async () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  const kept = new Set<number>();
  const hook = createHook({
    init: (asyncId, type) => type === 'EventLoopBlock' && kept.add(asyncId),
    destroy: (asyncId) => kept.delete(asyncId),
  }).enable();
  stalls.watch(openSpans);
  const feed = feedOf();
  const ended = block();
  const around = feed.spansAround(ended);
  if (around !== undefined) feed.add(ended, around, undefined);
  expect(kept.size).toBe(1);
  for (let tries = 0; kept.size > 0 && tries < 50; tries++) {
    collectGarbage();
    await nextIteration(); // Node.js calls destroy in one of the next
  }
  expect(kept.size).toBe(0);
  hook.disable();
});
