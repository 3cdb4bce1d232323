import { Arrivals } from '../../src/core/stalls/arrivals.ts';

/** A block of this length each second, before which requests come every 10 ms. */
function arrivals(cameIn: (millis: number) => number, lengths: readonly number[]): Arrivals {
  const found = new Arrivals();
  for (const [i, millis] of lengths.entries()) {
    const start = 1000 * i;
    const came = cameIn(millis);
    for (let j = 0; j < (1000 - millis) / 10 + came; j++) found.begin();
    found.add({ start, end: start + millis, begun: came, came });
  }
  return found;
}

const LENGTHS = Array.from({ length: 20 }, (_, i) => (i % 2 === 0 ? 80 : 400));

test('as many as while nothing blocks: they come evenly', () => {
  expect(arrivals((millis) => millis / 10, LENGTHS).comeFor()).toBe(Number.POSITIVE_INFINITY);
});

test.each([20, 60, 150])('clients that wait for their answers come in the first %d ms', (first) => {
  const came = (millis: number) => Math.min(millis, first) / 10;
  const found = arrivals(came, LENGTHS).comeFor();
  expect(found).toBeGreaterThan(first * 0.9);
  expect(found).toBeLessThan(first * 1.1);
});

test.each([
  ['of no backlog', []],
  ['of the first one', [400]],
  ['of a few requests', [80]],
])('%s nothing is known', (_, lengths) => {
  expect(arrivals(() => 0, lengths).comeFor()).toBe(Number.POSITIVE_INFINITY);
});

test('what was long ago is forgotten: they come evenly since', () => {
  const found = arrivals(() => 2, LENGTHS);
  expect(found.comeFor()).toBeLessThan(40);
  for (let i = 20; i < 60; i++) {
    for (let j = 0; j < 100; j++) found.begin();
    found.add({ start: 1000 * i, end: 1000 * i + 400, begun: 40, came: 40 });
  }
  expect(found.comeFor()).toBe(Number.POSITIVE_INFINITY);
});
