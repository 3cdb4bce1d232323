// Promises: the peers are installed, as their lock file says, before they are compared.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { npm } from '../../tools/npm.cjs';

const FOLDER = join(import.meta.dirname, 'package');

/** @returns {Record<string, string>} the version of each peer */
export function installPeers() {
  if (!existsSync(join(FOLDER, 'node_modules'))) {
    console.error('installing the peers, once: npm ci in bench/peers/package');
    npm(['ci'], FOLDER);
  }
  const { dependencies } = manifest(FOLDER);
  return Object.fromEntries(Object.keys(dependencies).map((name) => [name, versionOf(name)]));
}

function versionOf(/** @type {string} */ name) {
  const folder = join(FOLDER, 'node_modules', name);
  return existsSync(folder) ? manifest(folder).version : 'not installed';
}

function manifest(/** @type {string} */ folder) {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
}
