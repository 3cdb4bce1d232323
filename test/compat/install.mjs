// Guarantees: for each group a folder in the git-ignored `.compat/` with the group's
// packages, the packed tarball and the apps, and nothing else: one copy of the API, no import that
// would reach the repository's own node_modules.
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../tools/paths.cjs';
import { checkImports, checkSingleApi, installWithTarball } from '../matrix/stage.mjs';

/** @import { Tarball } from '../../tools/pack.cjs' */

const CACHE = join(ROOT, '.compat');
const TRUTH = join(ROOT, 'test', 'scenarios', 'apps', 'support', 'truth.cjs');
/** What `truth.cjs` needs. */
const CLOCKS = ['thread-times.cjs', 'unix-time.cjs'];

/** @param {string} group */
export const groupFolder = (group) => join(CACHE, group);

/**
 * What is installed already is left as it is when the manifest has not changed.
 * @param {string} group
 * @param {Tarball} tarball
 * @returns {string} the folder
 * @throws {Error} when something cannot be installed or a promise above is broken
 */
export function installGroup(group, tarball) {
  const folder = groupFolder(group);
  installWithTarball(join(import.meta.dirname, 'groups', group), folder, tarball);
  copyApps(group, folder);

  checkSingleApi(folder);
  checkImports(folder, ['app'], `test/compat/groups/${group}/package.json`);
  return folder;
}

function copyApps(/** @type {string} */ group, /** @type {string} */ folder) {
  const target = join(folder, 'app');
  rmSync(target, { recursive: true, force: true });
  const source = join(import.meta.dirname, 'apps', group);
  if (existsSync(source)) cpSync(source, target, { recursive: true });
  const { dependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const shared = ['support'];
  if ('express' in dependencies) shared.push('with-express');
  const needed = ['sdk-node', 'instrumentation-http'].map((name) => `@opentelemetry/${name}`);
  if (needed.every((name) => name in dependencies)) shared.push('with-sdk');
  for (const name of shared) {
    cpSync(join(import.meta.dirname, 'apps', name), join(target, 'support'), { recursive: true });
  }
  // They lie in one folder here.
  const truth = readFileSync(TRUTH, 'utf8').replaceAll('../../../support/', './');
  writeFileSync(join(target, 'support', 'truth.cjs'), truth);
  for (const clock of CLOCKS) {
    cpSync(join(ROOT, 'test', 'support', clock), join(target, 'support', clock));
  }
}
