/**
 * What a host does with async hooks, contexts and `vm` timeouts goes on as without the package,
 * although stack samples come in the middle of it.
 */
import path from 'node:path';
import { appFile, runApp } from './support/run-app.ts';
import { test } from './support/scenario.ts';

const CONSOLE = 'opentelemetry-instrumentation-event-loop/console';

test.each(['leaves', 'switches', 'ends'])('a host that %s: it ends as without', async (way) => {
  const run = await runApp(way, {
    file: appFile('plain/host-hooks.cjs'),
    args: [way],
    nodeArgs: ['--require', CONSOLE],
    cwd: path.join(__dirname, '../..'),
    // So many stack samples come that one of them hits.
    env: { OTEL_INSTRUMENTATION_EVENT_LOOP_THRESHOLD_MILLIS: '20' },
  });

  expect([run.code, run.signal]).toEqual([0, null]);
  expect(run.stdout).toBe(`${JSON.stringify({ way, lost: 0 })}\n`);
});
