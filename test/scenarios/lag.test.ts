/** The lag histogram against what arrivals from another thread really waited. */
import { type HistogramValue, type MetricLine, runApp } from './support/run-app.ts';
import { test } from './support/scenario.ts';
import { judgeUnlessDelayed, runDelayOf } from './support/validity.ts';

/**
 * How far the share of waits below a boundary may be off. Chance moves it by 0.5 points, timers a
 * whole millisecond late by 0.7.
 */
const SHARE_TOLERANCE = 0.04;
const MEAN_TOLERANCE = 0.12;
/** Of 6 s: what the machine may take without moving these. */
const DELAY_MILLIS = 20;
/** Below this the timers' whole milliseconds and the messages' own way weigh more than the loop. */
const FINEST_BOUNDARY_SECONDS = 0.01;

const sum = (numbers: number[]) => numbers.reduce((total, n) => total + n, 0);

/** As with `off`, no hooks are on: nothing blocks. */
test('the lag histogram has what Poisson arrivals waited', async () => {
  const run = await runApp('poisson-arrivals.cjs', { asyncHooks: 'auto' });
  const waits = (run.notes['waits'] as number[]).map((millis) => millis / 1000);
  const [lag] = run.metrics.filter((m) => m.name === 'event_loop.lag' && m.phase === 'end') as [
    MetricLine,
  ];
  expect(lag.unit).toBe('s');
  const { buckets, count, sum: total } = lag.value as HistogramValue;
  expect(waits.length).toBeGreaterThan(4000);

  judgeUnlessDelayed(runDelayOf(run), DELAY_MILLIS, () => {
    for (const [i, boundary] of buckets.boundaries.entries()) {
      if (boundary < FINEST_BOUNDARY_SECONDS) continue;
      const recorded = sum(buckets.counts.slice(0, i + 1)) / count;
      const truth = waits.filter((wait) => wait <= boundary).length / waits.length;
      expect({
        boundary,
        off: Math.abs(recorded - truth) < SHARE_TOLERANCE ? 'little' : recorded - truth,
      }).toEqual({
        boundary,
        off: 'little',
      });
    }
    const mean = sum(waits) / waits.length;
    expect(Math.abs(total / count - mean) / mean).toBeLessThan(MEAN_TOLERANCE);
  });
});
