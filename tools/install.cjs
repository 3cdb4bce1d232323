// Guarantees: the packages that a `package.json` names in exact versions, installed once. What they
// need in turn is what npm had when a fixed day began, so that a run can be repeated without a lock
// file. Move the day on with the versions.
const { createHash } = require('node:crypto');
const { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');
const { npm } = require('./npm.cjs');

const UNTIL = '2026-11-27';
const MANIFESTS = ['package.json', '.npmrc'];
const INSTALL = ['install', '--no-package-lock', '--no-save', `--before=${UNTIL}`];

/**
 * Installs what the manifest in `source` names into `folder`, which may be the same. What is there
 * already is left as it is if the manifest has not changed.
 * @param {string} source
 * @param {string} [folder]
 * @param {string[]} [options] of npm
 */
function installOnce(source, folder = source, options = []) {
  mkdirSync(folder, { recursive: true });
  const manifests = MANIFESTS.filter((name) => existsSync(join(source, name)));
  const hash = createHash('sha256').update(UNTIL);
  for (const name of manifests) hash.update(readFileSync(join(source, name)));
  const wanted = hash.digest('hex');
  const stamp = join(folder, 'node_modules', '.installed-from');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return;
  console.error(`installing ${folder}, once`);
  if (folder !== source)
    for (const name of manifests) cpSync(join(source, name), join(folder, name));
  npm([...INSTALL, '--prefer-offline', ...options], folder);
  writeFileSync(stamp, wanted);
}

/**
 * Adds a packed package to what is installed.
 * @param {string} tarball its path
 * @param {string} folder
 * @param {string[]} [options] of npm
 */
function addTarball(tarball, folder, options = []) {
  npm([...INSTALL, '--prefer-offline', ...options, tarball], folder);
}

/** @returns {string} the version of a package that is installed in `folder` */
function versionIn(/** @type {string} */ folder, /** @type {string} */ name) {
  return JSON.parse(readFileSync(join(folder, 'node_modules', name, 'package.json'), 'utf8'))
    .version;
}

module.exports = { addTarball, installOnce, versionIn };
