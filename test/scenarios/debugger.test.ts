/** A pause in the debugger is not a block. */
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import WebSocket from 'ws';
import { expectBlock, truthNamed } from './support/expect-blocks.ts';
import { runApp, type Truth } from './support/run-app.ts';
import { test } from './support/scenario.ts';

const PAUSE_MILLIS = 600;

test('a pause in the debugger is not reported, a block under the debugger is', async () => {
  const run = await runApp('debugger-pause.cjs', {}, async (app) => {
    const client = new WebSocket(await app.printed('debugger '));
    await once(client, 'open');
    let id = 0;
    const paused = new Promise<void>((resolve) =>
      client.on('message', (data) => {
        if (JSON.parse(String(data)).method === 'Debugger.paused') resolve();
      }),
    );
    const send = (method: string) =>
      new Promise<void>((resolve) => {
        const own = ++id;
        client.on('message', (data) => {
          if (JSON.parse(String(data)).id === own) resolve();
        });
        client.send(JSON.stringify({ id: own, method }));
      });
    await send('Debugger.enable');
    app.child.stdin?.write('go\n');
    await paused;
    await wait(PAUSE_MILLIS);
    await send('Debugger.resume');
    client.close();
    await once(client, 'close');
  });
  const pause = truthNamed(run, 'pause');
  expect(pause.durationMillis).toBeGreaterThanOrEqual(PAUSE_MILLIS);
  // Starting the inspector may be a block of its own.
  const during = ({ startMillis, endMillis }: Truth) =>
    run.blocks.filter((block) => block.startMillis < endMillis && block.endMillis > startMillis);
  expect(during(pause)).toEqual([]);
  expectBlock(run, { truth: 'real', kind: 'callback', parent: 'none' });
});
