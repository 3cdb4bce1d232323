import fc from 'fast-check';
import type { FunctionWait } from '../../src/channels.ts';
import { FunctionSums } from '../../src/core/stalls/function-sums.ts';
import {
  MAX_RECENT_BLOCKS,
  type RecentBlock,
  RecentBlocks,
} from '../../src/core/stalls/recent-blocks.ts';
import { type SpanTime, stallIn } from '../../src/core/stalls/span-time.ts';

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
      const ring = recent(...all);
      const { millis, longestMillis, waits: ofBlocks } = ring.stallOf(of);
      const waits = new FunctionSums(ring).waitsOf(ofBlocks, []);
      expect(millis).toBeCloseTo(
        alone.reduce((sum, each) => sum + each, 0),
        6,
      );
      expect(longestMillis).toBe(Math.max(0, ...alone));
      expect(waits.map((wait) => wait.millis)).toEqual(alone.reverse().filter((each) => each > 0));
      // What was found out for one is not taken for another one.
      const { start } = of;
      for (const other of [
        { ...of, start: -100, startedAt: undefined },
        { ...of, start: -100, startedAt: undefined, end: 1e6, spanId: 'd' },
      ]) {
        const ofOther = all.map((each) => stallIn(each, other));
        for (let i = 0; i < 2; i++) {
          const stall = ring.stallOf(other);
          expect(stall.millis).toBeCloseTo(
            ofOther.reduce((sum, each) => sum + each, 0),
            6,
          );
          expect(stall.longestMillis).toBe(Math.max(0, ...ofOther));
        }
      }
      expect(ring.stallOf({ ...of, start }).millis).toBe(millis);
    }),
  );
});

test('a span that lasted through a thousand blocks is compared with few of them', () => {
  const ring = new RecentBlocks();
  const looked = new Set<number>();
  for (let i = 0; i < 1000; i++) {
    const each = block(100 * i, 100 * i + 50, ...(i === 500 ? ['me'] : []));
    const get = (_: RecentBlock, name: string) => {
      looked.add(i);
      return Reflect.get(each, name);
    };
    ring.add(new Proxy<RecentBlock>(each, { get: get as never }));
  }
  looked.clear();
  const { millis, waits } = ring.stallOf(span('me', 20, 1e6));
  expect(millis).toBe(30 + 998 * 50);
  expect([...looked]).toEqual([500, 0]);
  expect(waits.parts.size).toBe(2);
});

test('requests that ended together: the functions of each are its own', () => {
  const ring = new RecentBlocks();
  for (let i = 0; i < 200; i++) {
    const name = i % 7 === 6 ? {} : { key: `f${i % 7}`, startTimeMillis: i };
    const each = block(100 * i, 100 * i + 20 + ((i * 37) % 60), `s${i % 5}`);
    ring.add({ ...each, named: name });
  }
  const ids = ['s0', 's1', 'other'];
  const all = Array.from({ length: 60 }, (_, i) =>
    span(ids[i % 3] as string, (i * 7919) % 19_000, i % 4 === 0 ? 15_050 : 1e6),
  ).map((each) => ring.stallOf(each));
  const byKey = (sums: readonly FunctionWait[]) =>
    [...sums]
      .map(({ key, stalledMillis }) => [key, Math.round(stalledMillis)] as const)
      .sort(([a], [b]) => a.localeCompare(b));
  const shared = new FunctionSums(ring);
  for (const { waits, millis } of all) {
    // Added up from its waits for each block.
    const one = shared.waitsOf(waits, []);
    const keys = [...new Set(one.map(({ block: { key = '' } }) => key))];
    const expected = keys.map((key) => ({
      key,
      queuedMillis: 0,
      stalledMillis: one
        .filter((wait) => (wait.block.key ?? '') === key)
        .reduce((sum, wait) => sum + wait.millis, 0),
    }));
    expect(byKey(shared.functionsOf(waits, [], millis))).toEqual(byKey(expected));
  }
});

test('what is forgotten before a request is reported counts for no function', () => {
  const ring = new RecentBlocks();
  ring.add({ ...block(0, 50), named: { key: 'f' } });
  const { waits, millis } = ring.stallOf(span('me', -100, 1000));
  for (let i = 0; i < MAX_RECENT_BLOCKS; i++) ring.add(block(2000 + i, 2000 + i + 1));
  expect(new FunctionSums(ring).functionsOf(waits, [], millis)).toMatchObject([
    { key: '', stalledMillis: 50 },
  ]);
});
