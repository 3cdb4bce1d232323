// Guarantees: each application lies in a folder of the git-ignored `.real-apps/`. The agent, and
// this package as it would be published, lie in the folder above.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { addTarball, installOnce } from '../../../tools/install.cjs';
import { pack } from '../../../tools/pack.cjs';
import { PACKAGE_NAME, ROOT } from '../../../tools/paths.cjs';

const SOURCE = join(ROOT, 'bench/real-apps');
export const CACHE = join(ROOT, '.real-apps');
const MANIFESTS = ['package.json', '.npmrc'];
const API = 'node_modules/@opentelemetry/api';

/**
 * Installs the agent with this package, packed. Needs the build.
 * @param {boolean} keep leaves what is installed as it is
 */
export function installAgent(keep) {
  mkdirSync(CACHE, { recursive: true });
  for (const name of ['blocks.cjs', 'jobs.cjs', 'profile.cjs'])
    cpSync(join(SOURCE, 'support', name), join(CACHE, name));
  if (keep) return;
  installOnce(SOURCE, CACHE, ['--ignore-scripts']);
  rmSync(join(CACHE, 'node_modules', PACKAGE_NAME), { recursive: true, force: true });
  addTarball(pack().path, CACHE, ['--ignore-scripts']);
}

/**
 * @param {string} name of the application
 * @returns {string} its folder
 */
export function installApp(name) {
  const source = join(SOURCE, name);
  const folder = join(CACHE, name);
  installOnce(source, folder, ['--ignore-scripts']);
  // A second copy of the api would be a silent no-op.
  rmSync(join(folder, API), { recursive: true, force: true });
  for (const entry of readdirSync(source)) {
    if (MANIFESTS.includes(entry)) continue;
    rmSync(join(folder, entry), { recursive: true, force: true });
    cpSync(join(source, entry), join(folder, entry), { recursive: true });
  }
  return folder;
}

/**
 * Builds an application, if something has changed since it was built.
 * @param {string} name
 * @param {string} node
 * @param {string[][]} commands arguments of Node.js
 */
export function buildApp(name, node, commands) {
  const folder = join(CACHE, name);
  const stamp = join(folder, 'node_modules/.built-from');
  const hash = createHash('sha256').update(JSON.stringify([node, commands]));
  for (const file of readdirSync(join(SOURCE, name), {
    recursive: true,
    encoding: 'utf8',
  }).sort()) {
    const path = join(SOURCE, name, file);
    if (file !== 'app.mjs' && statSync(path).isFile()) hash.update(file).update(readFileSync(path));
  }
  const wanted = hash.digest('hex');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return;
  for (const args of commands) {
    const { status, stdout, stderr } = spawnSync(node, args, { cwd: folder, encoding: 'utf8' });
    if (status !== 0) throw new Error(`${args.join(' ')} failed\n${stdout}\n${stderr}`);
  }
  writeFileSync(stamp, wanted);
}
