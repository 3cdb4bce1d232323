/**
 * Signals interrupt the wait for events of a process that idles, and libuv does not count what it
 * waited before. That is no block, at no sampling rate and in no mode.
 *
 *   SCENARIO_INTERRUPTIONS=40 npx jest test/scenarios/interrupted     for each of 36 set-ups
 */
import { setTimeout as wait } from 'node:timers/promises';
import { expectNothingReported } from './support/expect-blocks.ts';
import { type AsyncHooksMode, runApp } from './support/run-app.ts';
import { test } from './support/scenario.ts';

interface SetUp {
  asyncHooks: AsyncHooksMode;
  thresholdMillis: number;
  lagIntervalMillis: number;
  captureStack: boolean;
}

const MODES: AsyncHooksMode[] = ['auto', 'always'];
const RATES = [
  [10, 20],
  [20, 20],
  [100, 20],
  [20, 200],
  [100, 200],
  [100, 1000],
] as const;
const ALL: SetUp[] = MODES.flatMap((asyncHooks) =>
  RATES.flatMap(([thresholdMillis, lagIntervalMillis]) =>
    [true, false].map((captureStack) => ({
      asyncHooks,
      thresholdMillis,
      lagIntervalMillis,
      captureStack,
    })),
  ),
);
/** One of each kind of beat: idling, with and without the watchdog thread, and slow. */
const FEW: SetUp[] = [
  { asyncHooks: 'auto', thresholdMillis: 100, lagIntervalMillis: 20, captureStack: true },
  { asyncHooks: 'auto', thresholdMillis: 20, lagIntervalMillis: 20, captureStack: false },
  { asyncHooks: 'always', thresholdMillis: 100, lagIntervalMillis: 1000, captureStack: false },
  { asyncHooks: 'always', thresholdMillis: 100, lagIntervalMillis: 1000, captureStack: true },
];

const given = Number(process.env['SCENARIO_INTERRUPTIONS']);
const interruptions = given > 0 ? given : 18;
const setUps = given > 0 ? ALL : FEW;
/** A process is started for each at the same time: that they start must not keep others waiting. */
const AT_A_TIME = 4;
/** When it is told to end: at some time in its wait for the next beat. */
const END_MILLIS = 230;

const groups = Array.from({ length: setUps.length / AT_A_TIME }, (_, i) =>
  setUps.slice(i * AT_A_TIME, (i + 1) * AT_A_TIME),
);

test.each(groups.map((group) => [group]))('interrupted waits are no blocks: %j', async (group) => {
  const runs = await Promise.all(
    group.map((setUp) => {
      const args = [JSON.stringify(setUp), String(interruptions)];
      const nodeArgs = ['--inspect-port=0'];
      return runApp('interrupted.cjs', { args, nodeArgs }, async ({ child, printed }) => {
        await printed('interrupted');
        await wait(END_MILLIS);
        child.kill('SIGTERM');
      });
    }),
  );
  for (const run of runs) {
    expectNothingReported(run);
    expect(run.code).toBe(0);
    expect(run.stderr.replace(/^(Debugger listening|For help).*\n/gm, '')).toBe('');
  }
});
