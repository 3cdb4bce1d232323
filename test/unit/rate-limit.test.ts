import { RateLimit } from '../../src/report/rate-limit.ts';

function count(limit: RateLimit, times: number[]) {
  let n = 0;
  for (const t of times) {
    if (!limit.hasRoom(t)) continue;
    limit.take(t);
    n++;
  }
  return n;
}

test('at most so many in any 60 seconds, also across the turn of a minute', () => {
  const limit = new RateLimit(3);
  expect(count(limit, [0, 59_000, 59_500, 59_900])).toBe(3);
  expect(limit.hasRoom(59_999)).toBe(false);
  // The first is 60 s ago now, the others are not.
  expect(count(limit, [60_000, 60_001, 118_999])).toBe(1);
  expect(count(limit, [119_000, 119_500, 119_501])).toBe(2);
});

test('none', () => {
  expect(count(new RateLimit(0), [0, 100_000])).toBe(0);
});
