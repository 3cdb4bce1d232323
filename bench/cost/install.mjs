// Guarantees: the services have their packages, and this one as it would be published.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { addTarball, installOnce, versionIn } from '../../tools/install.cjs';
import { pack } from '../../tools/pack.cjs';
import { PACKAGE_NAME } from '../../tools/paths.cjs';

export const FOLDER = join(import.meta.dirname, 'package');

/** @returns {Record<string, string>} the version of each */
export function installServices() {
  installOnce(FOLDER);
  addTarball(pack().path, FOLDER);
  const { dependencies } = JSON.parse(readFileSync(join(FOLDER, 'package.json'), 'utf8'));
  const names = [...Object.keys(dependencies), PACKAGE_NAME];
  return Object.fromEntries(names.map((name) => [name, versionIn(FOLDER, name)]));
}
