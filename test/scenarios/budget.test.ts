/** What is done after blocks is bounded, however many there are. */
import { runApp } from './support/run-app.ts';
import { test } from './support/scenario.ts';
import { judgeUnlessDelayed, runDelayOf } from './support/validity.ts';

const BLOCKS = 200;
/** A block of 14 ms that lacks CPU may be none, and two may be one. */
const MIN_BLOCKS = 0.9 * BLOCKS;
const LONG_DELAY_MILLIS = 200;
/** At so low a threshold: 2 % for samples, 0.6 % for names. */
const MAX_SHARE = 0.026;
/** To emit a block has no part in the budget, nor what was begun before it was used up. */
const MAX_EMITTED_MILLIS = 0.4 * BLOCKS;

test('more blocks than there is a budget for: samples and names are left out, no block is', async () => {
  const run = await runApp('many-blocks.cjs');

  const sumOf = (name: string, attribute: string) =>
    run.metrics
      .filter((metric) => metric.name === name)
      .filter(({ attributes }) => Object.values(attributes).includes(attribute))
      .reduce((sum, { value }) => sum + Number(value), 0);
  expect(sumOf('event_loop.own.skipped', 'sample')).toBeGreaterThan(0);
  judgeUnlessDelayed(runDelayOf(run), LONG_DELAY_MILLIS, () => {
    expect(run.blocks.length).toBeGreaterThan(MIN_BLOCKS);
    const { health, cpuMillis } = run.notes as { health: { ownMillis: number }; cpuMillis: number };
    const mainMillis = 1e3 * sumOf('event_loop.own.duration', 'main');
    expect(mainMillis).toBeGreaterThan(0);
    expect(mainMillis).toBeLessThan(MAX_SHARE * cpuMillis + MAX_EMITTED_MILLIS);
    expect(health.ownMillis).toBeGreaterThan(mainMillis / 2);
  });
});
