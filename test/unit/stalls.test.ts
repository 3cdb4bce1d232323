import { ROOT_CONTEXT, SpanKind } from '@opentelemetry/api';
import type { Block } from '../../src/block.ts';
import { type EndedSpan, stallsOfThread } from '../../src/core/stalls/stalls.ts';
import { toHrTime } from '../../src/otel/hr-time.ts';
import { EPOCH, FakeClock } from './support/fake-clock.ts';
import { TracerProvider } from './support/sdk.ts';
import { stallSession } from './support/stall-session.ts';

const stalls = stallsOfThread();
const tracer = new TracerProvider().getTracer('app');
const clock = new FakeClock();
const session = stallSession({ clock });

/** A span of 0 to 10 s in the clock's time. */
function spanInTime(name: string): EndedSpan {
  const span = tracer.startSpan(name, { kind: SpanKind.SERVER, startTime: toHrTime(EPOCH) });
  stalls.started(span, ROOT_CONTEXT);
  return Object.assign(span, { endTime: toHrTime(EPOCH + 10_000) }) as unknown as EndedSpan;
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

beforeEach(() => {
  stalls.start(session);
  stalls.watch();
});
afterEach(() => {
  stalls.unwatch();
  stalls.stop(session);
});

test('promise reactions without a stack sample: no span is called stalled', () => {
  spanInTime('open');
  expect(stalls.spansAt(block({ kind: 'microtasks' }))?.stalledSpans).toBeUndefined();
  const known = block({ kind: 'microtasks', context: ROOT_CONTEXT });
  expect(stalls.spansAt(known)?.stalledSpans).toBe(1);
});

test('of what one callback made, it is known when that began', () => {
  const begun = tracer.startSpan('begun', { startTime: toHrTime(EPOCH + 2010) });
  stalls.started(begun, ROOT_CONTEXT);
  // No Unix time is compared with it.
  expect(stalls.spansAt(block())?.stalledSpans).toBe(0);
  expect(stalls.spansAt(block({ kind: 'pile-up' }))?.stalledSpans).toBe(1);
});

test('a start counts as it was read: not in whole milliseconds, nor moved with the wall clock', () => {
  const span = Object.assign(tracer.startSpan('waiting'), {
    startTime: toHrTime(EPOCH + 2100),
    _performanceStartTime: 2100.4,
    _startTimeProvided: false,
    endTime: toHrTime(EPOCH + 2300),
  }) as unknown as EndedSpan;
  stalls.started(span, ROOT_CONTEXT);
  const blockSpan = { spanContext: () => undefined, addQueued() {}, onReported() {} };
  stalls.spansAt(block({ kind: 'pile-up' }))?.add(blockSpan);
  expect(stalls.stallOf(span)?.millis).toBeCloseTo(49.6);
  const epoch = jest.spyOn(clock, 'epoch').mockImplementation((time) => EPOCH + 60_000 + time);
  expect(stalls.stallOf(span)?.millis).toBeCloseTo(49.6);
  epoch.mockRestore();
});
