import fc from 'fast-check';
import { type TimedSample, weigh } from '../../../src/name/weights.ts';
import { prompt, sample } from './support/stacks.ts';

const weights = (start: number, end: number, ...samples: TimedSample[]) =>
  weigh(samples, start, end).map(({ before, after }) => [before, after]);

describe('only what has to do with the block counts', () => {
  test('one that was asked for before it began counts from its beginning', () => {
    expect(weights(100, 200, sample(60, 150))).toEqual([[50, 50]]);
  });

  test('one that was asked for in it and came after it stands for its end', () => {
    const [, last] = weigh([prompt(60), sample(100, 260)], 0, 250);
    expect(last).toMatchObject({ isInside: false, before: 170, after: 0, uninterrupted: 170 });
    expect(weights(0, 100, prompt(60), sample(99, 101))).toEqual([[60, 40]]);
    expect(weights(100, 200, sample(60, 250))).toEqual([[100, 0]]);
  });
});

test('the time without an answer, and as long again before it, could not be interrupted', () => {
  const uninterrupted = (...samples: TimedSample[]) =>
    weigh(samples, 0, 200).map((weighted) => weighted.uninterrupted);
  // All of a call of 200 ms; 110 of which 50 were observed; no more than the sample stands for.
  expect(uninterrupted(sample(60, 200))).toEqual([200]);
  expect(uninterrupted(sample(60, 110))).toEqual([100]);
  expect(uninterrupted(prompt(60), sample(100, 180))).toEqual([0, 100]);
  expect(uninterrupted(sample(60, 62.9), sample(100, 103))).toEqual([0, 6]);
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

describe('two phases, captured as the watchdog does', () => {
  /**
   * First at 60 ms, then 40 apart, each at least `growth` times as late as the one before; one
   * thing is asked for at a time.
   */
  function shareOf(native: number, phases: readonly ['js' | 'native', number][], growth: number) {
    const end = phases.reduce((sum, [, millis]) => sum + millis, 0);
    const samples: TimedSample[] = [];
    const found: string[] = [];
    let [due, free] = [60, 0];
    while (samples.length < 30) {
      const asked = Math.max(due, free) + 1;
      if (asked >= end) break;
      let until = 0;
      const [what] = phases.find(([, millis]) => {
        until += millis;
        return asked < until;
      }) as ['js' | 'native', number];
      const answered = what === 'native' ? Math.max(until, asked + 0.5) : asked + 0.5;
      samples.push(sample(asked, answered));
      found.push(what);
      free = answered + 5;
      due = Math.max(asked + 40, asked * growth);
    }
    const share = weigh(samples, 0, end)
      .filter((_, i) => found[i] === 'native')
      .reduce((sum, { before, after }) => sum + (before + after) / end, 0);
    return Math.abs(share - native);
  }
  const lengths = Array.from({ length: 200 }, (_, i) => 320 * 1.02 ** i);
  const worst = (native: number, nativeFirst: boolean, growth: number) =>
    Math.max(
      ...lengths.map((length) => {
        const phases: ['js' | 'native', number][] = [
          ['js', length * (1 - native)],
          ['native', length * native],
        ];
        return shareOf(native, nativeFirst ? phases.reverse() : phases, growth);
      }),
    );

  test.each([
    [0.2, true],
    [0.5, true],
    [0.8, true],
    [0.2, false],
    [0.5, false],
    [0.8, false],
  ])(
    'a native share of %f, native first %s, is right within 10 points with a growth of 1.2',
    (share, first) => {
      expect(worst(share, first, 1.2)).toBeLessThan(0.1);
    },
  );

  test('with a growth of 1.35 the last fifth may have no sample', () => {
    expect(worst(0.2, false, 1.35)).toBeCloseTo(0.2);
    expect(worst(0.5, false, 1.35)).toBeLessThan(0.1);
  });
});
