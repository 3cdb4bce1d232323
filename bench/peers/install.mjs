// Guarantees: the peers are installed, as their lock file says, before they are compared.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { npm } from '../../tools/npm.cjs';

const FOLDER = join(import.meta.dirname, 'package');

/**
 * Without their scripts: each of them has its binaries in its package.
 * @returns {Record<string, string>} the version of each peer
 */
export function installPeers() {
  if (!existsSync(join(FOLDER, 'node_modules'))) {
    console.error('installing the peers, once: npm ci in bench/peers/package');
    npm(['ci', '--ignore-scripts'], FOLDER);
  }
  const folders = [
    FOLDER,
    ...manifest(FOLDER).workspaces.map((/** @type {string} */ name) => join(FOLDER, name)),
  ];
  return Object.fromEntries(
    folders
      .toReversed()
      .flatMap((folder) =>
        Object.keys(manifest(folder).dependencies).map((name) => [name, versionOf(name, folder)]),
      ),
  );
}

function versionOf(/** @type {string} */ name, /** @type {string} */ folder) {
  const installed = join(folder, 'node_modules', name);
  return existsSync(installed) ? manifest(installed).version : 'not installed';
}

function manifest(/** @type {string} */ folder) {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
}
