/** A process that does nothing costs next to nothing, and is watched all the same. */
import {
  expectBlocks,
  expectNamed,
  expectQuietExit,
  lagOf,
  NAME_OF_WORK,
  truthNamed,
} from './support/expect-blocks.ts';
import { type Run, runApp } from './support/run-app.ts';
import { sharedRun, test } from './support/scenario.ts';
import { judgeUnlessDelayed, runDelayOf } from './support/validity.ts';

const BLOCKS = 5;
const LAG_INTERVAL_MILLIS = 20;
/** 80 while busy; V8 and libuv have threads of their own. */
const MAX_WAKE_UPS_PER_SECOND = 45;
/** A block of 150 ms is 7 or 8 samples: with the sums of five blocks, chance is a tenth. */
const LAG_TOLERANCE = 0.2;
/** The part of that which the machine may take. */
const DELAY_MILLIS = 20;

const MODES = ['auto', 'always'] as const;
/** Side by side: they do nothing nearly all of the time. */
const lookAtRuns = sharedRun(() =>
  Promise.all(
    MODES.map((asyncHooks) =>
      runApp('idle.cjs', {
        asyncHooks,
        withoutBackground: 'it counts the wake-ups of an idle process',
      }),
    ),
  ),
);

test.each(MODES)(
  'an idle loop (asyncHooks: %s): few wake-ups, and a block is captured and is lag as any other',
  (asyncHooks) =>
    lookAtRuns((runs) => {
      const run = runs[MODES.indexOf(asyncHooks)] as Run;
      expectQuietExit(run);
      judgeUnlessDelayed(runDelayOf(run), DELAY_MILLIS, () =>
        expect(run.notes['wake-ups per second']).toBeLessThan(MAX_WAKE_UPS_PER_SECOND),
      );

      const labels = Array.from({ length: BLOCKS }, (_, i) => `block ${i}`);
      expectBlocks(
        run,
        labels.map((truth) => ({ truth, kind: 'callback', parent: 'none' })),
      );
      expectNamed(run, Object.fromEntries(labels.map((label) => [label, NAME_OF_WORK])));

      const { count, sumMillis } = lagOf(run);
      const lasted = Number(run.notes['millis']);
      judgeUnlessDelayed(runDelayOf(run), DELAY_MILLIS, () => {
        expect(count).toBeGreaterThan((lasted / LAG_INTERVAL_MILLIS) * 0.7);
        expect(count).toBeLessThan((lasted / LAG_INTERVAL_MILLIS) * 1.1);
        // An event that arrives in a block of `millis` waits for half of it on average.
        const waited = labels
          .map((label) => truthNamed(run, label).durationMillis)
          .reduce((sum, millis) => sum + (millis / LAG_INTERVAL_MILLIS) * (millis / 2), 0);
        expect(Math.abs(sumMillis - waited) / waited).toBeLessThan(LAG_TOLERANCE);
      });
    }),
);
