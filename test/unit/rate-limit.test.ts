import { RateLimit } from '../../src/core/emit/rate-limit.ts';

/** How many of a function's blocks at these times get a span. */
function count(limit: RateLimit, times: number[], key = 'f') {
  let n = 0;
  for (const t of times) {
    if (!limit.allows(key, t)) continue;
    limit.take(key, t);
    n++;
  }
  return n;
}

const at = (time: number, times: number) => Array<number>(times).fill(time);

test('at most so many in any 60 seconds, also across the turn of a minute', () => {
  const limit = new RateLimit(3);
  expect(count(limit, [0, 59_000, 59_500, 59_900])).toBe(3);
  expect(limit.hasRoom(59_999)).toBe(false);
  // The first is 60 s ago now, the others are not.
  expect(count(limit, [60_000, 60_001, 118_999])).toBe(1);
  expect(count(limit, [119_000, 119_500, 119_501])).toBe(2);
});

test('300 functions that block once each get no more than the limit', () => {
  const limit = new RateLimit(10);
  const taken = Array.from({ length: 300 }, (_, i) => count(limit, [i * 100], `function ${i}`));
  expect(taken).toEqual([...Array(10).fill(1), ...Array(290).fill(0)]);
});

test('a function gets all if it is alone, a tenth if another one blocked in the last 60 s', () => {
  const limit = new RateLimit(100);
  expect(count(limit, at(0, 5), 'rare')).toBe(5);
  expect(count(limit, at(1_000, 500), 'noisy')).toBe(10);
  expect(count(limit, at(2_000, 50), 'late')).toBe(10);
  // What was taken at 0 and 1 s counts no longer, but another function blocked at 2 s.
  expect(count(limit, at(61_000, 500), 'noisy')).toBe(10);
  // Nobody else has blocked for 60 s.
  expect(count(limit, at(62_000, 500), 'noisy')).toBe(90);
  // It has taken all: nothing is left for others.
  expect(count(limit, at(63_000, 50), 'late')).toBe(0);
});

test('a block that gets no span counts as one of others', () => {
  const limit = new RateLimit(10);
  expect(count(limit, at(0, 10), 'noisy')).toBe(10);
  expect(count(limit, [30_000], 'rare')).toBe(0);
  expect(count(limit, at(60_000, 10), 'noisy')).toBe(1);
});

test('spans that were promised have their place; a limit of 0 leaves room for none', () => {
  const limit = new RateLimit(2);
  limit.reserved = 1;
  expect(count(limit, [0, 0])).toBe(1);
  expect(limit.hasRoom(0)).toBe(false);
  expect(count(new RateLimit(0), [0])).toBe(0);
});
