// Guarantees: the tarball that would be published, and that it contains nothing but what it should.
// `node tools/pack.cjs` packs what is in dist/ and also checks that nothing is missing.
const { mkdirSync, readFileSync } = require('node:fs');
const { join } = require('node:path');
const { npm } = require('./npm.cjs');
const { MATRIX, ROOT } = require('./paths.cjs');

const REQUIRED = [
  'package.json',
  'README.md',
  'LICENSE',
  'CHANGELOG.md',
  'console.schema.json',
  'dist/LICENSES.txt',
];
/** Packed. Raise it only for what users asked for. */
const MOST_BYTES = 288 * 1024;
const allowed = (/** @type {string} */ path) =>
  REQUIRED.includes(path) || path.startsWith('dist/') || /^docs\/[^/]+\.md$/.test(path);

/**
 * @typedef {object} Tarball
 * @property {string} path
 * @property {string} integrity as npm writes it down for what it installs
 * @property {string[]} files
 * @property {number} size bytes, packed
 */

/**
 * Packs the repository as it is; build first.
 * @returns {Tarball}
 * @throws {Error} names the files that have no business in the package
 */
function pack() {
  mkdirSync(MATRIX, { recursive: true });
  const [entry] = JSON.parse(
    npm(['pack', '--json', '--ignore-scripts', `--pack-destination=${MATRIX}`], ROOT),
  );
  const files = entry.files.map((/** @type {{ path: string }} */ file) => file.path);
  const strangers = files.filter((/** @type {string} */ path) => !allowed(path));
  if (strangers.length > 0) throw new Error(`the tarball must not contain ${strangers.join(', ')}`);
  return {
    path: join(MATRIX, entry.filename),
    integrity: entry.integrity,
    files,
    size: entry.size,
  };
}

/**
 * @param {Tarball} tarball
 * @returns {string[]} what must be in the tarball and is not: the fixed files, and each file
 *   package.json points to
 */
function missingFiles({ files }) {
  const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const promised = [manifest.main, manifest.module, manifest.types, ...leaves(manifest.exports)]
    .filter((target) => target !== undefined)
    .map((target) => target.replace(/^\.\//, ''));
  return [...new Set([...REQUIRED, ...promised])].filter((path) => !files.includes(path));
}

/** @returns {string[]} */
function leaves(/** @type {unknown} */ value) {
  if (typeof value === 'string') return [value];
  return Object.values(value ?? {}).flatMap(leaves);
}

if (require.main === module) {
  const tarball = pack();
  const missing = missingFiles(tarball);
  for (const path of tarball.files) console.log(`  ${path}`);
  console.log(`${tarball.files.length} files, ${(tarball.size / 1024).toFixed(1)} KiB packed`);
  if (tarball.size > MOST_BYTES) {
    console.error(`the tarball is larger than ${MOST_BYTES / 1024} KiB`);
    process.exitCode = 1;
  }
  if (missing.length > 0) {
    console.error(`missing from the tarball: ${missing.join(', ')}`);
    process.exitCode = 1;
  }
}

module.exports = { pack };
