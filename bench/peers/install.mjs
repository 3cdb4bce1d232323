// Guarantees: the peers are installed before they are compared.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { installOnce, versionIn } from '../../tools/install.cjs';

const FOLDER = join(import.meta.dirname, 'package');

/**
 * Without their scripts: each of them has its binaries in its package.
 * @returns {Record<string, string>} the version of each peer
 */
export function installPeers() {
  installOnce(FOLDER, FOLDER, ['--ignore-scripts']);
  const { dependencies } = JSON.parse(readFileSync(join(FOLDER, 'package.json'), 'utf8'));
  return Object.fromEntries(
    Object.keys(dependencies).map((name) => [name, versionIn(FOLDER, name)]),
  );
}
