// Guarantees: a Node.js binary of a given major, from npm's `node` package, kept in `.matrix/`
// between runs: delete it there for a newer one.
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { npm } from '../../tools/npm.cjs';
import { MATRIX } from '../../tools/paths.cjs';

/**
 * @typedef {object} NodeBinary
 * @property {string} path
 * @property {string} version exact, without the `v`
 */

/**
 * @param {number} major
 * @returns {NodeBinary}
 * @throws {Error} when it cannot be installed or does not start on this machine
 */
export function installNode(major) {
  const folder = join(MATRIX, `node-${major}`);
  const path = join(folder, 'node_modules', '.bin', 'node');
  const cached = versionOf(path);
  if (cached !== undefined) return { path, version: cached };

  mkdirSync(folder, { recursive: true });
  // The package is only a preinstall script that fetches the binary; newer npm runs scripts on
  // permission only.
  const manifest = { private: true, allowScripts: { node: true } };
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  npm(['install', '--no-save', '--no-package-lock', `node@${major}`], folder);

  const version = versionOf(path);
  if (version === undefined)
    throw new Error(`npm installed node@${major}, but ${path} does not start`);
  return { path, version };
}

/** @param {string} path */
function versionOf(path) {
  const { status, stdout } = spawnSync(path, ['--version'], { encoding: 'utf8' });
  return status === 0 ? stdout.trim().replace(/^v/, '') : undefined;
}
