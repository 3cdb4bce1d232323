/** The debugger goes on as without this package, and a pause in it is a block that waits. */
import { setTimeout as wait } from 'node:timers/promises';
import { DebuggerClient } from './support/debugger-client.ts';
import { expectBlock, truthNamed } from './support/expect-blocks.ts';
import { runApp } from './support/run-app.ts';
import { test } from './support/scenario.ts';

const PAUSE_MILLIS = 600;

test('pauses, blocks and waits under the debugger are reported', async () => {
  const run = await runApp('debugger-pause.cjs', {}, async (app) => {
    const client = await DebuggerClient.attach(await app.printed('debugger '));
    const paused = client.event('Debugger.paused');
    await client.call('Debugger.enable');
    app.child.stdin?.write('go\n');
    await paused;
    await wait(PAUSE_MILLIS);
    await client.call('Debugger.resume');
    await client.detach();
  });
  const pause = truthNamed(run, 'pause');
  expect(pause.durationMillis).toBeGreaterThanOrEqual(PAUSE_MILLIS);
  expectBlock(run, { truth: 'real', kind: 'callback', parent: 'none' });
  expectBlock(run, { truth: 'wait', kind: 'callback', parent: 'none' });
});

test.each(['main', 'worker'])(
  'a thread that pauses the %s thread a hundred times in blocks is not in the way',
  async (thread) => {
    const run = await runApp('paused-by-another.cjs', { args: [thread] });

    expect([run.code, run.stdout, run.stderr]).toEqual([0, '100', '']);
  },
);
