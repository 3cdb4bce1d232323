// Promises: the peers are installed, as their lock file says, when somebody is about to be compared with them.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { npm } from '../../test/matrix/npm.mjs';

/** @returns {Record<string, string>} the version of each peer */
export function installPeers() {
  const folder = join(import.meta.dirname, 'package');
  if (!existsSync(join(folder, 'node_modules'))) {
    console.error('installing the peers, once: npm ci in bench/peers/package');
    npm(['ci'], folder);
  }
  const { dependencies } = JSON.parse(npm(['ls', '--json', '--depth=0'], folder));
  return Object.fromEntries(Object.entries(dependencies).map(([name, { version }]) => [name, version]));
}
