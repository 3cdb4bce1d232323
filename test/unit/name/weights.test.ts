import fc from 'fast-check';
import { type TimedSample, weigh } from '../../../src/core/explain/name/weights.ts';
import { prompt, sample } from './support/stacks.ts';

const weights = (start: number, end: number, ...samples: TimedSample[]) =>
  weigh(samples, start, end).map(({ before, after }) => [before, after]);

describe('only what has to do with the block counts', () => {
  test('one that was asked for in it and came after it stands for its end', () => {
    const [, last] = weigh([prompt(60), sample(100, 260)], 0, 250);
    expect(last).toMatchObject({ isInside: false, before: 170, after: 0, uninterrupted: 170 });
    expect(weights(0, 100, prompt(60), sample(99, 101))).toEqual([[60, 40]]);
    expect(weights(100, 200, sample(60, 250))).toEqual([[100, 0]]);
  });
});

const time = fc.double({ min: 0, max: 1000, noNaN: true });
const anySamples = fc.array(fc.tuple(time, fc.double({ min: -2, max: 500, noNaN: true })), {
  maxLength: 64,
});

test('at any times: never negative, and together as long as the block', () => {
  fc.assert(
    fc.property(anySamples, time, time, (pairs, a, b) => {
      const [start, end] = [Math.min(a, b), Math.max(a, b)];
      const samples = pairs.map(([requestedAt, late]) => sample(requestedAt, requestedAt + late));
      const weighted = weigh(samples, start, end);
      let sum = 0;
      for (const { before, after, uninterrupted, until } of weighted) {
        sum += before + after;
        expect(before).toBeGreaterThanOrEqual(0);
        expect(after).toBeGreaterThanOrEqual(0);
        expect(uninterrupted).toBeLessThanOrEqual(before + 1e-9);
        expect(until).toBeLessThanOrEqual(end);
      }
      if (weighted.length > 0) expect(sum).toBeCloseTo(end - start, 6);
    }),
  );
});
