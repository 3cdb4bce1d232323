import fc from 'fast-check';
import {
  MAX_RECENT_BLOCKS,
  type RecentBlock,
  RecentBlocks,
} from '../../src/stalls/recent-blocks.ts';
import { type SpanTime, stallIn } from '../../src/stalls/span-time.ts';

const block = (start: number, end: number, ...blockingSpanIds: string[]): RecentBlock => ({
  start,
  end,
  blockingSpanIds: new Set(blockingSpanIds),
  span: undefined,
  named: undefined,
});
const span = (spanId: string, start: number, end: number): SpanTime => ({ spanId, start, end });
const recent = (...blocks: RecentBlock[]) => {
  const ring = new RecentBlocks();
  for (const b of blocks) ring.add(b);
  return ring;
};

test('forgotten blocks make a stall incomplete, if they may have fallen into the span', () => {
  const ring = recent(
    ...Array.from({ length: MAX_RECENT_BLOCKS + 1 }, (_, i) => block(i * 10, i * 10 + 5)),
  );
  expect(ring.stallOf(span('me', 0, 1e6))).toMatchObject({
    millis: MAX_RECENT_BLOCKS * 5,
    incomplete: true,
  });
  expect(ring.stallOf(span('me', 4, 1e6)).incomplete).toBe(true);
  expect(ring.stallOf(span('me', 5, 1e6))).toMatchObject({
    millis: MAX_RECENT_BLOCKS * 5,
    incomplete: false,
  });
});

describe('a span that ran in the block', () => {
  const blocked = (more: Partial<RecentBlock>): RecentBlock => ({ ...block(1000, 1192), ...more });

  test('and was begun by the callback that blocked, but never active, did not wait for it', () => {
    const ring = recent(blocked({ callbackStart: 70 }));
    expect(ring.stallOf(span('begun by it', 1010, 1300)).millis).toBe(0);
    expect(ring.stallOf(span('before', 999, 1300)).millis).toBe(192);
    expect(ring.stallOf({ ...span('call', 1010, 1300), isRemoteCall: true }).millis).toBe(182);
    // In the millisecond in which the block begins, the exact time says which was first.
    expect(ring.stallOf({ ...span('begun by it', 999.6, 1300), startedAt: 70.1 }).millis).toBe(0);
    expect(ring.stallOf({ ...span('before', 1000, 1300), startedAt: 69.9 }).millis).toBe(192);
  });

  test('that several callbacks made, waited for the others of them', () => {
    const ring = recent(blocked({ ranMillis: new Map([['one of them', 50]]) }));
    expect(ring.stallOf(span('begun in it', 1010, 1300)).millis).toBe(182);
    expect(ring.stallOf(span('one of them', 1000, 1300)).millis).toBe(142);
  });
});

test('a span is stalled by each block as if it was compared with that one alone', () => {
  const id = fc.constantFrom('a', 'b', 'c');
  const length = fc.double({ min: 0.5, max: 60, noNaN: true });
  const blocks = fc.array(
    fc.record({
      gap: fc.double({ min: 0, max: 30, noNaN: true }),
      length,
      blocking: fc.array(id, { maxLength: 2 }),
      ran: fc.array(fc.tuple(id, length), { maxLength: 2 }),
      isCallback: fc.boolean(),
      isPart: fc.boolean(),
    }),
    { maxLength: 40 },
  );
  const spans = fc.record({
    spanId: id,
    startedAt: fc.double({ min: 0, max: 1500, noNaN: true }),
    length: fc.double({ min: 0, max: 1500, noNaN: true }),
    isExact: fc.boolean(),
    isRemoteCall: fc.boolean(),
  });
  fc.assert(
    fc.property(blocks, spans, (given, { startedAt, length, isExact, ...span }) => {
      let time = 0;
      const all: RecentBlock[] = [];
      for (const { gap, length, blocking, ran, isCallback, isPart } of given) {
        const start = time + gap;
        time = start + length;
        const each = {
          ...block(start, time, ...blocking),
          ranMillis: new Map(ran),
          callbackStart: isCallback ? start : undefined,
        };
        // The inner part of a pile-up comes before the one that began earlier.
        if (isPart && all.length > 0) all.splice(-1, 0, each);
        else all.push(each);
      }
      // The SDK cuts the start to whole milliseconds.
      const times = { start: Math.floor(startedAt), ...(isExact && { startedAt }) };
      const of: SpanTime = { ...span, ...times, end: startedAt + length };
      const alone = all.map((each) => stallIn(each, of));
      const waits: { millis: number }[] = [];
      const { millis, longestMillis } = recent(...all).stallOf(of, waits as never);
      expect(millis).toBeCloseTo(
        alone.reduce((sum, each) => sum + each, 0),
        6,
      );
      expect(longestMillis).toBe(Math.max(0, ...alone));
      expect(waits.map((wait) => wait.millis)).toEqual(alone.reverse().filter((each) => each > 0));
    }),
  );
});
