import { MAX_RECENT_BLOCKS, type RecentBlock, RecentBlocks } from '../../src/victims/recent-blocks.ts';

const block = (start: number, end: number, ...culprits: string[]): RecentBlock => ({
  start,
  end,
  culprits: new Set(culprits),
  spanContext: () => undefined,
});
const recent = (...blocks: RecentBlock[]) => {
  const ring = new RecentBlocks();
  for (const b of blocks) ring.add(b);
  return ring;
};

test('no block, no stall', () => {
  expect(recent().endedAfter(0)).toBe(false);
  expect(recent().stallOf('me', 0, 1000)).toEqual({
    millis: 0,
    longest: undefined,
    longestMillis: 0,
    incomplete: false,
  });
});

test.each([
  ['around the block', 900, 1400, 200],
  ['from inside the block', 1050, 1400, 150],
  ['into the block', 900, 1050, 50],
  ['inside the block', 1050, 1100, 50],
  ['before the block', 800, 1000, 0],
  ['after the block', 1200, 1300, 0],
])('a span %s', (_what, start, end, millis) => {
  expect(recent(block(1000, 1200)).stallOf('me', start, end).millis).toBe(millis);
});

test('what a clock that is cut to milliseconds makes up is no stall', () => {
  expect(recent(block(1000, 1200.9)).stallOf('me', 1200, 1500).millis).toBe(0);
  expect(recent(block(1000, 1201)).stallOf('me', 1200, 1500).millis).toBe(1);
});

test('several blocks add up, and the one that was waited longest for is linked', () => {
  const long = block(1000, 2000);
  const ring = recent(long, block(2100, 2400), block(2500, 2600));
  // Of the longest block, only the last 100 ms fell into the span.
  expect(ring.stallOf('me', 1900, 3000)).toMatchObject({ millis: 500, longestMillis: 300 });
  expect(ring.stallOf('me', 0, 3000)).toMatchObject({ millis: 1400, longest: long, longestMillis: 1000 });
});

test('the span that blocked did not wait', () => {
  const ring = recent(block(1000, 1200, 'me', 'around me'), block(1300, 1400, 'another'));
  expect(ring.stallOf('me', 0, 2000).millis).toBe(100);
  expect(ring.stallOf('around me', 0, 2000).millis).toBe(100);
  expect(ring.stallOf('another', 0, 2000).millis).toBe(200);
});

test('blocks are added out of order: the inner one first', () => {
  const ring = recent(block(1100, 1300), block(1000, 1100), block(1300, 1500));
  expect(ring.endedAfter(1499)).toBe(true);
  expect(ring.endedAfter(1500)).toBe(false);
  expect(ring.stallOf('me', 0, 2000).millis).toBe(500);
});

test('what was forgotten is admitted, by those alone whom it may concern', () => {
  const ring = recent(...Array.from({ length: MAX_RECENT_BLOCKS + 1 }, (_, i) => block(i * 10, i * 10 + 5)));
  expect(ring.stallOf('me', 0, 1e6)).toMatchObject({ millis: MAX_RECENT_BLOCKS * 5, incomplete: true });
  expect(ring.stallOf('me', 4, 1e6).incomplete).toBe(true);
  expect(ring.stallOf('me', 5, 1e6)).toMatchObject({ millis: MAX_RECENT_BLOCKS * 5, incomplete: false });
});
