/**
 * With `SCENARIO_BACKGROUND=1`, an interval of 1 ms runs in each app from its first line on, and in
 * the worker threads that it starts. The loop of a service is never idle; while a loop idles, async
 * hooks are on, and other code of the package runs.
 */
import path from 'node:path';

/** Arguments of Node.js, to stand before the app. */
export const BACKGROUND: readonly string[] =
  process.env['SCENARIO_BACKGROUND'] === '1'
    ? ['--require', path.join(__dirname, '../apps/support/background.cjs')]
    : [];
