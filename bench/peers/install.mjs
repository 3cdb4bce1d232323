// Guarantees: the peers are installed before they are compared.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { installOnce, versionIn } from '../../tools/install.cjs';

const FOLDER = join(import.meta.dirname, 'package');
/** For what needs a version of the API that the others do not accept. */
const FOLDERS = [join(FOLDER, 'api-1.10'), FOLDER];

/**
 * Without their scripts: each of them has its binaries in its package.
 * @returns {Record<string, string>} the version of each peer
 */
export function installPeers() {
  for (const folder of FOLDERS) installOnce(folder, folder, ['--ignore-scripts']);
  return Object.fromEntries(
    FOLDERS.flatMap((folder) => {
      const { dependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
      return Object.keys(dependencies).map((name) => [name, versionIn(folder, name)]);
    }),
  );
}
