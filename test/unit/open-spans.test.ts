import { ROOT_CONTEXT, type Span, trace } from '@opentelemetry/api';
import fc from 'fast-check';
import { lineOf, MAX_OPEN_SPANS, OpenSpans, parentOf } from '../../src/core/stalls/open-spans.ts';
import { spanTimeOf, stallIn } from '../../src/core/stalls/span-time.ts';
import { toHrTime } from '../../src/otel/hr-time.ts';
import { TracerProvider } from './support/sdk.ts';

const EPOCH = 1_700_000_000_000;
const tracer = new TracerProvider().getTracer('app');
const within = (parent: Span | undefined) =>
  parent === undefined ? ROOT_CONTEXT : trace.setSpan(ROOT_CONTEXT, parent);
const spanAt = (millis: number, parent?: Span) =>
  tracer.startSpan('span', { startTime: toHrTime(EPOCH + millis) }, within(parent));
const NOBODY = { blockingSpanIds: new Set<string>() };

test('spans that never end: the oldest are forgotten', () => {
  const spans = new OpenSpans();
  for (let i = 0; i < 3 * MAX_OPEN_SPANS; i++) spans.add(spanAt(i), ROOT_CONTEXT);
  const countBefore = (end: number) =>
    spans.countStalled({ start: EPOCH, end: EPOCH + end, ...NOBODY }, []);
  expect(countBefore(1e6)).toBe(MAX_OPEN_SPANS);
  expect(countBefore(2 * MAX_OPEN_SPANS)).toBe(0);
  expect(countBefore(2 * MAX_OPEN_SPANS + 1)).toBe(1);
});

test.each([
  ['in the future', toHrTime(Date.now() + 1e9)],
  ['at no time', [Number.NaN, Number.NaN] as [number, number]],
])('a span whose start is %s: a block is not compared with all that begin after it', (_, start) => {
  const spans = new OpenSpans();
  const asked = jest.fn();
  const odd = { ...spanAt(0), startTime: start, spanContext: () => ({ spanId: 'odd' }) };
  spans.add(odd as unknown as Span, ROOT_CONTEXT);
  for (let i = 0; i < 1000; i++) {
    const span = spanAt(i);
    const context = span.spanContext();
    spans.add(Object.assign(span, { spanContext: () => asked() ?? context }), ROOT_CONTEXT);
  }
  const block = { start: EPOCH + 5000, end: EPOCH + 6000, ...NOBODY };
  expect(spans.countStalled(block, [])).toBeGreaterThanOrEqual(1000);
  expect(asked).not.toHaveBeenCalled();
});

test('each span begins inside the last one, for ever: a bounded number of them is kept', () => {
  const spans = new OpenSpans();
  let latest: Span | undefined;
  for (let i = 0; i < 1000; i++) {
    const span = spanAt(i, latest);
    spans.add(span, within(latest));
    spans.remove(span);
    latest = span;
  }
  let kept = 0;
  for (let span = latest; span !== undefined; span = parentOf(span)) kept++;
  expect(kept).toBeLessThanOrEqual(128);
});

test('nobody but this package sees what is kept in a span', () => {
  const span = spanAt(0);
  const before = Reflect.ownKeys(span);
  new OpenSpans().add(span, ROOT_CONTEXT);
  expect(Reflect.ownKeys(span)).toEqual(before);
});

test('a span that has ended still leads to those around it', () => {
  const spans = new OpenSpans();
  const request = spanAt(0);
  const handler = spanAt(1, request);
  spans.add(request, ROOT_CONTEXT);
  spans.add(handler, within(request));
  spans.remove(request);
  spans.remove(handler);
  expect(lineOf(handler)).toEqual([handler, request]);
});

test('a context that cannot be read is an error, not a span that was added before', () => {
  const broken = Object.assign(Object.create(ROOT_CONTEXT), {
    getValue() {
      throw new Error('broken');
    },
  });
  expect(() => new OpenSpans().add(spanAt(0), broken)).toThrow('broken');
});

test('any spans and any block: as many are stalled as there are if each is looked at', () => {
  const START = 100;
  const END = 200;
  const anySpan = fc.record({
    start: fc.integer({ min: 0, max: 300 }),
    ended: fc.boolean(),
    /** Milliseconds that it ran in the block; or the block is attributed to it. */
    ran: fc.constantFrom(undefined, undefined, undefined, 20, 99, 100, 'attributed'),
  });
  fc.assert(
    fc.property(
      fc.array(anySpan, { maxLength: 30 }),
      fc.constantFrom(undefined, START),
      (described, callbackStart) => {
        const spans = new OpenSpans();
        const all = described.map(({ start, ended, ran }) => {
          const span = spanAt(start);
          spans.add(span, ROOT_CONTEXT);
          if (ended) spans.remove(span);
          return { span, start: EPOCH + start, ended, ran, id: span.spanContext().spanId };
        });
        const ran = all.filter((each) => each.ran !== undefined);
        const block = {
          start: EPOCH + START,
          end: EPOCH + END,
          callbackStart,
          blockingSpanIds: new Set(
            all.filter((each) => each.ran === 'attributed').map(({ id }) => id),
          ),
          ranMillis: new Map(ran.map((each) => [each.id, Number(each.ran)] as const)),
        };
        const stalled = all.filter(({ span, start, ended }) => {
          const time = spanTimeOf(span, start, block.end);
          return !ended && stallIn(block, time) > 0;
        });
        const counted = spans.countStalled(
          block,
          ran.map(({ span }) => span),
        );
        expect(counted).toBe(stalled.length);
      },
    ),
  );
});
