// Guarantees: the sources of a package with its tests, as pinned, and its development dependencies
// beside them.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { npm } from '../../tools/npm.cjs';
import { INSTALLED_AS_OF, NOT_NEEDED } from './subjects.mjs';
import { sourceFolder } from './suite.mjs';

/** @import { Subject } from './subjects.mjs' */

/**
 * @param {Subject} subject
 * @returns {string} its folder
 */
export function prepareSources(subject) {
  const folder = sourceFolder(subject.name);
  const stamp = join(folder, '.peers-stamp');
  const wanted = createHash('sha256')
    .update(JSON.stringify([subject, INSTALLED_AS_OF]))
    .digest('hex');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return folder;

  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  if (subject.git === undefined) unpack(subject, folder);
  else checkOut(subject.git, folder);
  install(folder);
  for (const script of subject.prepare ?? []) run(process.execPath, [script], folder);
  writeFileSync(stamp, wanted);
  return folder;
}

function unpack(/** @type {Subject} */ { name, version }, /** @type {string} */ folder) {
  const [{ filename }] = JSON.parse(npm(['pack', `${name}@${version}`, '--json'], folder));
  run('tar', ['-xzf', filename, '--strip-components=1'], folder);
}

function checkOut(
  /** @type {NonNullable<Subject['git']>} */ { repository, commit },
  /** @type {string} */ folder,
) {
  const url = `https://github.com/${repository}.git`;
  run('git', ['init', '--quiet'], folder);
  run('git', ['fetch', '--quiet', '--depth=1', url, commit], folder);
  run('git', ['checkout', '--quiet', 'FETCH_HEAD'], folder);
}

/** Without its lock, which names all of what the tests do not need, but as of one day. */
function install(/** @type {string} */ folder) {
  const file = join(folder, 'package.json');
  const manifest = JSON.parse(readFileSync(file, 'utf8'));
  for (const name of Object.keys(manifest.devDependencies))
    if (NOT_NEEDED.test(name)) delete manifest.devDependencies[name];
  delete manifest.scripts;
  writeFileSync(file, `${JSON.stringify(manifest, null, 2)}\n`);
  rmSync(join(folder, 'package-lock.json'), { force: true });
  npm(
    [
      'install',
      '--ignore-scripts',
      '--no-audit',
      '--no-fund',
      '--no-package-lock',
      '--prefer-offline',
      '--legacy-peer-deps',
      `--before=${INSTALLED_AS_OF}`,
    ],
    folder,
  );
}

function run(
  /** @type {string} */ command,
  /** @type {string[]} */ args,
  /** @type {string} */ folder,
) {
  const { status, stderr, error } = spawnSync(command, args, {
    cwd: folder,
    encoding: 'utf8',
    // As in a script of npm: commands of its packages are found.
    env: {
      ...process.env,
      PATH: `${join(folder, 'node_modules/.bin')}${delimiter}${process.env.PATH}`,
    },
  });
  if (status === 0) return;
  const [said = ''] = (error?.message ?? stderr).trim().split('\n');
  throw new Error(`\`${command} ${args[0]}\` failed: ${said}`);
}
