// Guarantees: a product is installed from npm in a folder of its own under the temporary directory.
// `node_modules` goes when it is no longer needed.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { npm } from '../../tools/npm.cjs';
import { PRODUCTS } from './own-folder.mjs';

/**
 * @typedef {import('../support/product.mjs').Startable & {
 *   title: string,
 *   install(folder: string): { options?: string[], rebuild?: string[], build?: string[][] },
 *   ownSdk?: Record<string, string>,
 *   ready: string,
 *   light: string,
 *   visit(client: import('./client.mjs').Client, folder: string): Promise<unknown>,
 * }} Product
 *   `install` lays the `package.json`, and says which options npm needs, which packages have a
 *   binary to be fetched or built, and with which arguments Node.js builds the rest; `ready` and
 *   `light` are paths: the second blocks nothing; `ownSdk` starts an SDK of the
 *   product's, with an api of its own
 */

/** @returns {string} the folder */
export function installProduct(
  /** @type {string} */ name,
  /** @type {Product} */ product,
  /** @type {string} */ node,
  /** @type {boolean} */ keep,
) {
  const folder = join(PRODUCTS, name);
  const stamp = join(folder, 'node_modules/.installed');
  if (keep && existsSync(stamp)) return folder;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const { options = [], rebuild = [], build = [] } = product.install(folder);
  // Scripts of packages fetch what is not on npm; what is needed of that, `rebuild` makes.
  npm(['install', '--ignore-scripts', '--omit=dev', ...options], folder);
  if (rebuild.length > 0) npm(['rebuild', ...rebuild], folder);
  for (const args of build) {
    const env = { ...process.env, ...product.env?.({ port: 0, data: folder, folder, node }) };
    const { status, stderr } = spawnSync(node, args, { cwd: folder, env, encoding: 'utf8' });
    if (status !== 0) throw new Error(`${args.join(' ')} failed\n${stderr}`);
  }
  writeFileSync(stamp, '');
  return folder;
}

/** A package's own files, in `folder` itself. */
export function unpack(/** @type {string} */ spec, /** @type {string} */ folder) {
  const file = npm(['pack', '--silent', spec], folder).trim();
  const { status } = spawnSync('tar', ['xzf', file, '--strip-components=1'], { cwd: folder });
  if (status !== 0) throw new Error(`cannot unpack ${file}`);
}

/** A project that depends on these packages. */
export function writeManifest(/** @type {string} */ folder, /** @type {object} */ manifest) {
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, ...manifest }));
}
