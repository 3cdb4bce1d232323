// Guarantees: the services have their packages, as their lock says, and this one as it would be
// published.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { npm } from '../../tools/npm.cjs';
import { pack } from '../../tools/pack.cjs';
import { PACKAGE_NAME } from '../../tools/paths.cjs';

export const FOLDER = join(import.meta.dirname, 'package');

/** @returns {Record<string, string>} the version of each */
export function installServices() {
  console.error('installing the services: npm ci in bench/cost/package');
  npm(['ci', '--prefer-offline'], FOLDER);
  npm(['install', '--no-save', '--prefer-offline', pack().path], FOLDER);
  const { dependencies } = manifest(FOLDER);
  return Object.fromEntries(
    [...Object.keys(dependencies), PACKAGE_NAME].map((name) => [
      name,
      manifest(join(FOLDER, 'node_modules', name)).version,
    ]),
  );
}

function manifest(/** @type {string} */ folder) {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
}
