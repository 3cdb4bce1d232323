/**
 * Signals interrupt the wait for events of a process that idles, and libuv does not count what it
 * waited before. That is no block, at no sampling rate and in no mode.
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

/** One of each kind of beat: idling, with and without the watchdog thread, and slow. */
const SET_UPS: SetUp[] = [
  { asyncHooks: 'auto', thresholdMillis: 100, lagIntervalMillis: 20, captureStack: true },
  { asyncHooks: 'auto', thresholdMillis: 20, lagIntervalMillis: 20, captureStack: false },
  { asyncHooks: 'always', thresholdMillis: 100, lagIntervalMillis: 1000, captureStack: false },
  { asyncHooks: 'always', thresholdMillis: 100, lagIntervalMillis: 1000, captureStack: true },
];

const INTERRUPTIONS = 18;
/** When it is told to end: at some time in its wait for the next beat. */
const END_MILLIS = 230;

// All at the same time: that one starts must not keep the others waiting.
test('interrupted waits are no blocks', async () => {
  const runs = await Promise.all(
    SET_UPS.map((setUp) => {
      const args = [JSON.stringify(setUp), String(INTERRUPTIONS)];
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
