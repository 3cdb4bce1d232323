// Guarantees: lock files that `npm ci` takes on every platform, whatever registry mirror they were
// made with. `node .ci/complete-locks.mjs` after an `npm install` that npm made on a mirror without
// some platform packages.
//
// Tools such as swc, biome and rollup list one optional package per platform. npm writes into the
// lock only those that the registry had; a mirror that is a few days behind has no newest Windows
// or macOS package. `npm ci` then refuses the lock on all platforms ("Missing:
// @swc/core-darwin-arm64@ from lock file"). What is missing is no mystery: the parent names the
// exact version, and the package's name says the platform. The checksum is asked of the registry;
// it is left out until the registry has the package: run this again then.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '..');
const FOLDERS = ['.', 'deploy/demo-image', 'deploy/grafana', 'deploy/operator'];

const SYSTEMS = [
  'android',
  'darwin',
  'freebsd',
  'linux',
  'netbsd',
  'openbsd',
  'openharmony',
  'win32',
];
const PROCESSORS = ['arm64', 'arm', 'x64', 'ia32', 'ppc64', 's390x', 'riscv64', 'loong64'];
/** @type {Map<string, string>} */
const integrities = new Map();
const EXACT = /^\d+\.\d+\.\d+/;

for (const folder of FOLDERS) {
  const file = join(ROOT, folder, 'package-lock.json');
  const lock = JSON.parse(readFileSync(file, 'utf8'));
  const added = complete(lock.packages);
  const { found, missing } = addChecksums(lock.packages);
  if (added + found > 0) writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
  console.log(
    `${join(folder, 'package-lock.json')}: ${added} platform packages and ${found} checksums added, ` +
      `${missing} checksums are missing`,
  );
}

/** Asks the registry for each checksum that is not there. */
function addChecksums(/** @type {Record<string, any>} */ packages) {
  const without = Object.entries(packages).filter(
    ([path, entry]) => path.includes('node_modules/') && !entry.link && !entry.integrity,
  );
  for (const [path, entry] of without) {
    const name = entry.name ?? path.slice(path.lastIndexOf('node_modules/') + 13);
    const integrity = integrityOf(`${name}@${entry.version}`);
    if (integrity) packages[path] = inOrder({ ...entry, integrity });
  }
  const missing = without.filter(([path]) => !packages[path].integrity).length;
  return { found: without.length - missing, missing };
}

/** As npm writes it. */
function inOrder({ name, version, resolved, integrity, ...others }) {
  const entry = { name, version, resolved, integrity, ...others };
  return Object.fromEntries(Object.entries(entry).filter(([, value]) => value !== undefined));
}

function integrityOf(/** @type {string} */ version) {
  if (!integrities.has(version)) {
    const { stdout } = spawnSync('npm', ['view', version, 'dist.integrity'], { encoding: 'utf8' });
    integrities.set(version, stdout.trim());
  }
  return integrities.get(version);
}

/**
 * Adds what is missing to `packages`, the lock's flat map from folder to package, and keeps its
 * order.
 */
function complete(/** @type {Record<string, any>} */ packages) {
  const missing = {};
  for (const [parentPath, parent] of Object.entries(packages)) {
    for (const [name, version] of Object.entries(parent.optionalDependencies ?? {})) {
      if (isInstalled(packages, parentPath, name)) continue;
      const platform = platformOf(name);
      if (!platform || !EXACT.test(version))
        throw new Error(`cannot find out what ${name}@${version} is for`);
      missing[`node_modules/${name}`] = {
        version,
        ...(parent.dev && { dev: true }),
        optional: true,
        ...platform,
      };
    }
  }
  const sorted = Object.entries({ ...packages, ...missing }).sort(([a], [b]) =>
    a.localeCompare(b, 'en'),
  );
  for (const path of Object.keys(packages)) delete packages[path];
  Object.assign(packages, Object.fromEntries(sorted));
  return Object.keys(missing).length;
}

/** Searches where Node.js would: beside the parent, then upwards. */
function isInstalled(
  /** @type {Record<string, any>} */ packages,
  /** @type {string} */ parentPath,
  /** @type {string} */ name,
) {
  for (
    let path = parentPath;
    ;
    path = path.slice(0, Math.max(0, path.lastIndexOf('/node_modules/')))
  ) {
    if (packages[`${path && `${path}/`}node_modules/${name}`]) return true;
    if (path === '') return false;
  }
}

/** `@rollup/rollup-linux-arm-musleabihf` is for Linux on 32-bit ARM with musl. */
function platformOf(/** @type {string} */ name) {
  const words = name.split(/[/-]/);
  const os = SYSTEMS.find((system) => words.includes(system));
  const cpu = PROCESSORS.find((processor) => words.includes(processor));
  if (!os || !cpu) return undefined;
  if (os !== 'linux') return { cpu: [cpu], os: [os] };
  const libc = words.some((word) => word.startsWith('musl')) ? 'musl' : 'glibc';
  return { cpu: [cpu], libc: [libc], os: [os] };
}
