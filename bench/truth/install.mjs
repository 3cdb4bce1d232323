// Guarantees: the packages of the application that blocks are installed, as their lock file says,
// when it is about to be run.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { npm } from '../../tools/npm.cjs';

const FOLDER = join(import.meta.dirname, 'package');

/** Without scripts: what has no binary for this machine in its package is not there. */
export function installApplication() {
  if (existsSync(join(FOLDER, 'node_modules'))) return;
  console.error('installing the application, once: npm ci in bench/truth/package');
  npm(['ci', '--ignore-scripts'], FOLDER);
}
