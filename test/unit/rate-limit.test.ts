import { NO_FUNCTION, RateLimit } from '../../src/report/rate-limit.ts';

/** How many of a function's blocks at these times get a span. */
function count(limit: RateLimit, times: number[], key = NO_FUNCTION) {
  let n = 0;
  for (const t of times) {
    if (limit.hasRoom(key, t)) {
      limit.take(key, t);
      n++;
    } else limit.refuse(key, t);
  }
  return n;
}

const at = (time: number, times: number) => Array<number>(times).fill(time);

test('at most so many in any 60 seconds, also across the turn of a minute', () => {
  const limit = new RateLimit(3);
  expect(count(limit, [0, 59_000, 59_500, 59_900])).toBe(3);
  expect(limit.hasRoom(NO_FUNCTION, 59_999)).toBe(false);
  // The first is 60 s ago now, the others are not.
  expect(count(limit, [60_000, 60_001, 118_999])).toBe(1);
  expect(count(limit, [119_000, 119_500, 119_501])).toBe(2);
});

test('another function comes late: it gets its tenth, and the first one nothing from then on', () => {
  const limit = new RateLimit(100);
  expect(count(limit, at(0, 500), 'noisy')).toBe(100);
  expect(count(limit, at(1_000, 50), 'late')).toBe(10);
  expect(count(limit, at(2_000, 50), 'later')).toBe(1);
  expect(count(limit, at(50_000, 50), 'noisy')).toBe(0);
  // What was taken at 0 counts no longer; others wanted some at 2 s.
  expect(count(limit, at(60_000, 50), 'noisy')).toBe(10);
  // Nobody else has wanted one for 60 s.
  expect(count(limit, at(62_000, 500), 'noisy')).toBe(90);
});

test('many functions together take no more than the limit, but for the first of each', () => {
  const limit = new RateLimit(100);
  const keys = Array.from({ length: 50 }, (_, i) => `function ${i}`);
  const taken = keys.map((key) => count(limit, at(0, 20), key));
  // The first one was alone.
  expect(taken).toEqual([20, ...Array(9).fill(10), ...Array(40).fill(1)]);
});

test('many functions side by side take no more than the limit, also after one had taken all', () => {
  const limit = new RateLimit(100);
  const sideBySide = (time: number) => {
    let taken = 0;
    for (let i = 0; i < 20; i++)
      for (let f = 0; f < 15; f++) taken += count(limit, [time], `function ${f}`);
    return taken;
  };
  expect(sideBySide(0)).toBe(100);
  expect(count(limit, at(60_000, 200), 'noisy')).toBe(100);
  expect(sideBySide(120_000)).toBe(100);
});
