// Guarantees: what docs/products.md says is done, word for word: the package and the SDK in a
// folder of their own, and the command that its table has for a product.
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { npm } from '../../tools/npm.cjs';
import { pack } from '../../tools/pack.cjs';
import { PACKAGE_NAME, ROOT } from '../../tools/paths.cjs';

const page = () => readFileSync(join(ROOT, 'docs/products.md'), 'utf8');

/** The page's first command, with the tarball of what is in dist. */
export function installByRecipe(/** @type {string} */ folder) {
  const [, names = ''] = /npm install --prefix \S+ ([^`]*?)\n *```/.exec(page()) ?? [];
  const packages = names.split(/[\s\\]+/).map((one) => (one === PACKAGE_NAME ? pack().path : one));
  mkdirSync(folder, { recursive: true });
  npm(['install', '--prefix', folder, ...packages], folder);
}

export const entryIn = (/** @type {string} */ folder) =>
  join(folder, 'node_modules', PACKAGE_NAME, 'dist/register.mjs');

/** @returns {string} the command of the page that starts a product */
export function startOf(/** @type {string} */ product) {
  const row = page()
    .split('\n')
    .find((line) => line.startsWith(`| ${product} `));
  const [, command] = /`([^`]+)`/.exec(row ?? '') ?? [];
  if (command === undefined) throw new Error(`docs/products.md does not say how ${product} starts`);
  return command;
}
