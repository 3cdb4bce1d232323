/**
 * Who replaces timers, fake timers of a test and zone.js, neither finds any of this package's nor
 * changes what it finds.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { BACKGROUND } from './support/background.ts';
import { appFile } from './support/run-app.ts';
import { test } from './support/scenario.ts';

/** Of 200 ms that the thread runs. */
const MIN_MILLIS = 190;
const block = (name: string) => ({ name, millis: expect.any(Number), samples: expect.any(Number) });

/** What the app prints, if it says of no block that it has not ended. */
async function run(app: string, ...args: string[]) {
  const argv = [...BACKGROUND, appFile(app), ...args];
  const { stdout, stderr } = await promisify(execFile)(process.execPath, argv, { timeout: 30_000 });
  expect(stderr).not.toMatch(/not ended|Error/);
  return JSON.parse(stdout);
}

test.each([
  ['sinon', 'nothing'],
  ['sinon', 'enabled'],
  ['node', 'loaded'],
  ['node', 'enabled'],
])(
  'fake timers of %s when the package is %s: blocks are found in them and afterwards',
  async (...args) => {
    const { timers, blocks, recorded } = await run('fake-timers.cjs', ...args);
    expect(timers).toBe(0);
    expect(blocks).toEqual([block('inside'), block('afterwards')]);
    expect(recorded).toEqual([block('inside')]);
    for (const { millis, samples } of [...blocks, ...recorded]) {
      expect(millis).toBeGreaterThan(MIN_MILLIS);
      // One alone would say that the thread of stack samples has another clock.
      expect(samples).toBeGreaterThan(1);
    }
  },
);

test.each(['zone.js', 'the package'])(
  'zone.js, %s loaded first: no timer of this package is in the zone that enables it',
  async (first) => {
    const { macroTasks, isStable, blocks } = await run('zone.cjs', first);
    expect(macroTasks).toEqual(['setTimeout']);
    expect(isStable).toBe(true);
    expect(blocks).toEqual([block('work')]);
  },
);
