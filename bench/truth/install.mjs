// Guarantees: the packages of the application that blocks are installed when it is about to be run.
import { join } from 'node:path';
import { installOnce } from '../../tools/install.cjs';

const FOLDER = join(import.meta.dirname, 'package');

/** Without scripts: what has no binary for this machine in its package is not there. */
export function installApplication() {
  installOnce(FOLDER, FOLDER, ['--ignore-scripts']);
}
