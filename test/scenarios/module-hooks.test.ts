/** The package hooks neither `require` nor `import`, and loads no package that does. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { BACKGROUND } from './support/background.ts';
import { appFile } from './support/run-app.ts';

/** @param way as `apps/module-hooks.cjs` names them */
async function run(way: string) {
  const { stdout } = await promisify(execFile)(process.execPath, [
    ...BACKGROUND,
    appFile('module-hooks.cjs'),
    way,
  ]);
  return JSON.parse(stdout);
}

test('the class reports a block: nothing is hooked, no package but the api is loaded', async () => {
  expect(await run('class')).toEqual({ hasBlock: true, hooked: false, loaded: 0, foreign: 0 });
});

test('/testing records a block: nothing is hooked, no package but the api is loaded', async () => {
  expect(await run('testing')).toEqual({ hasBlock: true, hooked: false, loaded: 0, foreign: 0 });
});

test('NodeSDK with the class alone: require is not hooked', async () => {
  expect(await run('sdk')).toMatchObject({ hooked: false });
});
