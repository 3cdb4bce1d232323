// Guarantees: a folder in which the suite meets the packed tarball and one OpenTelemetry line, and
// nothing else: one copy of the API, the package not linked, no import that would reach the
// repository's own node_modules.
import { cpSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { extname, join, relative } from 'node:path';
import { addTarball, installOnce, versionIn } from '../../tools/install.cjs';
import { PACKAGE_NAME, ROOT } from '../../tools/paths.cjs';
import { lineFolder, stageFolder } from './paths.mjs';

/** @import { Tarball } from '../../tools/pack.cjs' */

/**
 * The matrix itself; what stages itself on other dependencies or installs its own; and what is the
 * same for every line: the report page, which is in the tarball, backends, rules, dashboards,
 * documentation, layout, semantic conventions, the repository's address, benchmarks.
 */
const NOT_STAGED = new Set([
  import.meta.dirname,
  ...readdirSync(join(ROOT, 'examples'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => join(ROOT, 'examples', name)),
  join(ROOT, 'test', 'adopt'),
  join(ROOT, 'test', 'browser'),
  join(ROOT, 'test', 'compat'),
  join(ROOT, 'test', 'platforms'),
  join(ROOT, 'test', 'stack'),
  join(ROOT, 'test', 'unit', 'dashboards.test.ts'),
  join(ROOT, 'test', 'unit', 'deploy-kubernetes.test.ts'),
  join(ROOT, 'test', 'unit', 'repository.test.ts'),
  join(ROOT, 'test', 'unit', 'semconv.test.ts'),
  join(ROOT, 'test', 'unit', 'docs.test.ts'),
  join(ROOT, 'test', 'unit', 'structure-support.test.ts'),
  join(ROOT, 'tools', 'semconv.cjs'),
]);
const SUITE = [
  'src',
  'test',
  'examples',
  'scripts',
  'tools',
  'console.schema.json',
  'jest.config.mjs',
  'tsconfig.json',
];
const API = '@opentelemetry/api';
const CODE = new Set(['.ts', '.mts', '.cts', '.js', '.mjs', '.cjs']);

/**
 * Makes `.matrix/<line>/`: the line's packages, the tarball, copies of the suite.
 * @param {string} line
 * @param {Tarball} tarball
 * @returns {{ folder: string, apiVersion: string, sdkVersion: string }}
 * @throws {Error} when something cannot be installed or a promise above is broken
 */
export function stageLine(line, tarball) {
  const folder = stageFolder(line);
  installWithTarball(lineFolder(line), folder, tarball);
  copySuite(folder);

  checkImports(folder, ['src', 'test', 'tools', 'examples'], `test/matrix/${line}/package.json`);
  const apiVersion = checkSingleApi(folder);
  return { folder, apiVersion, sdkVersion: versionIn(folder, '@opentelemetry/sdk-trace') };
}

/**
 * Installs what the manifest in `source` names, and the tarball, if they are not there already.
 * @param {string} source
 * @param {string} folder
 * @param {Tarball} tarball
 */
export function installWithTarball(source, folder, tarball) {
  installOnce(source, folder);
  if (!hasTarball(folder, tarball)) addTarball(tarball.path, folder);
  checkTarballInstalled(folder, tarball);
}

/** @returns {boolean} */
function hasTarball(/** @type {string} */ folder, /** @type {Tarball} */ tarball) {
  try {
    checkTarballInstalled(folder, tarball);
    return true;
  } catch {
    return false;
  }
}

/** @param {string} folder */
function copySuite(folder) {
  for (const name of SUITE) {
    const source = join(ROOT, name);
    const target = join(folder, name);
    rmSync(target, { recursive: true, force: true });
    cpSync(source, target, { recursive: true, filter: (path) => !NOT_STAGED.has(path) });
  }
}

/**
 * A second copy of the API is a silent no-op: tests that find no span would report the wrong cause.
 */
export function checkSingleApi(/** @type {string} */ folder) {
  // By the name in the manifest: an alias (`npm:@opentelemetry/api@1.9`) lies in a folder of
  // another name.
  const copies = [...packagesIn(join(folder, 'node_modules'))].filter(
    (path) => nameOf(path) === API,
  );
  if (copies.length === 1) return versionIn(folder, API);
  const found = copies.map((path) => `\n  ${relative(folder, path)}`).join('');
  throw new Error(`expected exactly one copy of ${API}, found ${copies.length}:${found}`);
}

/** npm writes down the integrity of what it unpacked, and `link` if it unpacked nothing. */
function checkTarballInstalled(/** @type {string} */ folder, /** @type {Tarball} */ tarball) {
  const { packages } = readJson(join(folder, 'node_modules', '.package-lock.json'));
  const installed = packages[`node_modules/${PACKAGE_NAME}`];
  if (installed?.link) throw new Error(`${PACKAGE_NAME} is a link, not the tarball`);
  if (installed?.integrity !== tarball.integrity) {
    throw new Error(
      `${PACKAGE_NAME} is ${installed?.integrity ?? 'missing'}, not the tarball ${tarball.integrity}`,
    );
  }
}

/**
 * Node looks for packages in the parent folders too, so an import that the folder's manifest does
 * not list would silently come from the repository's own node_modules, with an OpenTelemetry line
 * of its own.
 * @param {string} folder
 * @param {string[]} sources the folders in it that contain code
 * @param {string} manifest where to list what is missing, as the message says it
 */
export function checkImports(folder, sources, manifest) {
  const listed = new Set([
    PACKAGE_NAME,
    ...Object.keys(readJson(join(folder, 'package.json')).dependencies),
  ]);
  const strangers = [];
  for (const path of sources.flatMap((name) => [...codeFiles(join(folder, name))])) {
    for (const name of importedPackages(readFileSync(path, 'utf8'))) {
      if (!listed.has(name)) strangers.push(`\n  ${name}, imported by ${relative(folder, path)}`);
    }
  }
  if (strangers.length > 0) {
    throw new Error(`the code needs packages that ${manifest} does not list:${strangers.join('')}`);
  }
}

const IMPORT =
  /^(?!\s*(?:\/\/|\*|import type\b)).*?(?:\bfrom\s*|\bimport\s*\(?\s*|\brequire(?:\.resolve)?\(\s*)['"]([^'"\s]+)['"]/gm;

/** @returns {Set<string>} names of the packages that a file imports, types aside */
export function importedPackages(/** @type {string} */ code) {
  const names = new Set();
  for (const [, specifier = ''] of code.matchAll(IMPORT)) {
    if (/^[^@\w]|^\w+:/.test(specifier) || isBuiltin(specifier)) continue;
    const parts = specifier.split('/');
    names.add(specifier.startsWith('@') ? parts.slice(0, 2).join('/') : parts[0]);
  }
  return names;
}

/** @returns {string[]} */
function codeFiles(/** @type {string} */ folder) {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => CODE.has(extname(path)))
    .map((path) => join(folder, path));
}

/** @returns {Generator<string>} folder of each installed package, nested ones too */
function* packagesIn(/** @type {string} */ nodeModules) {
  if (!existsSync(nodeModules)) return;
  for (const name of readdirSync(nodeModules)) {
    if (name.startsWith('.')) continue;
    const path = join(nodeModules, name);
    const folders = name.startsWith('@')
      ? readdirSync(path).map((scoped) => join(path, scoped))
      : [path];
    for (const folder of folders) {
      yield folder;
      yield* packagesIn(join(folder, 'node_modules'));
    }
  }
}

/** @returns {string | undefined} */
function nameOf(/** @type {string} */ folder) {
  const manifest = join(folder, 'package.json');
  return existsSync(manifest) ? readJson(manifest).name : undefined;
}

function readJson(/** @type {string} */ path) {
  return JSON.parse(readFileSync(path, 'utf8'));
}
