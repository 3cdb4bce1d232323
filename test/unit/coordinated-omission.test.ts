import { MAX_SAMPLES_PER_BEAT, recordLag } from '../../src/core/record/lag/health.ts';

const samples = (lag: number, interval: number) => {
  const all: number[] = [];
  recordLag(lag, interval, (millis) => all.push(millis));
  return all;
};

test('a beat on time is one sample', () => {
  expect(samples(0, 20)).toEqual([0]);
  expect(samples(20, 20)).toEqual([20]);
});

test('a late beat stands for all arrivals that were not asked', () => {
  expect(samples(70, 20)).toEqual([70, 50, 30, 10]);
  expect(samples(60, 20)).toEqual([60, 40, 20]);
});

test('a very late beat is spread evenly over a bounded number of samples', () => {
  const all = samples(60_000, 1);
  expect(all).toHaveLength(MAX_SAMPLES_PER_BEAT);
  expect(all[0]).toBe(60_000);
  expect(all[MAX_SAMPLES_PER_BEAT - 1]).toBeCloseTo(60);
});
