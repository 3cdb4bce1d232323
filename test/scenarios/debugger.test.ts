/** A pause in the debugger is not a block, and the debugger goes on as without this package. */
import { setTimeout as wait } from 'node:timers/promises';
import { DebuggerClient } from './support/debugger-client.ts';
import { expectBlock, truthNamed } from './support/expect-blocks.ts';
import { runApp, type Truth } from './support/run-app.ts';
import { test } from './support/scenario.ts';

const PAUSE_MILLIS = 600;

test('a pause in the debugger is not reported, blocks and waits under the debugger are', async () => {
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
  // Starting the inspector may be a block of its own.
  const during = ({ startMillis, endMillis }: Truth) =>
    run.blocks.filter((block) => block.startMillis < endMillis && block.endMillis > startMillis);
  expect(during(pause)).toEqual([]);
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
