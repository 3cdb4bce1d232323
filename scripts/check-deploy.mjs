// Guarantees: what deploy/ builds can be built. The package is made as the first stage of each
// image makes it, in a folder that has only what its Dockerfile copies; and the Lambda layer. Each
// of them is loaded. Kubernetes knows each field of the manifests.
import { execFileSync } from 'node:child_process';
import {
  accessSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { followDockerfile } from '../tools/dockerfile.mjs';
import { npm } from '../tools/npm.cjs';
import { ROOT } from '../tools/paths.cjs';

/** Each image, with what else is started in it. */
const OTHER_COMMANDS = { 'demo-image': ['demo/traffic.mjs'], operator: [] };
const PACKAGE = 'opentelemetry-instrumentation-event-loop';

const { files, version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const folder = mkdtempSync(join(tmpdir(), 'event-loop-deploy-'));
try {
  for (const image of Object.keys(OTHER_COMMANDS)) {
    const path = packageOf(image);
    // An image has no docs.
    for (const file of files) if (file !== 'docs/*.md') accessSync(join(path, file));
    loadPackage(path, image);
  }
  const layer = join(folder, 'layer');
  run('deploy/lambda/build-layer.mjs', layer);
  loadPackage(join(layer, 'event-loop/node_modules', PACKAGE), 'the Lambda layer');
  checkManifests('deploy/kubernetes/deployment.yaml');
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** @returns the folder of the package that the image's first stage makes */
function packageOf(/** @type {string} */ image) {
  const { first, workdir, command } = followDockerfile(
    ROOT,
    `deploy/${image}/Dockerfile`,
    join(folder, image),
    { copyOnly: true },
  );
  for (const file of [...command, ...OTHER_COMMANDS[image]])
    if (/\.[cm]?js$/.test(file)) checkImports(join(workdir, file));
  symlinkSync(join(ROOT, 'node_modules'), join(first, 'node_modules'));
  npm(['run', '--silent', 'build'], first);
  npm(['pack', '--silent', '--ignore-scripts'], first);
  execFileSync('tar', ['-xzf', join(first, `${PACKAGE}-${version}.tgz`), '-C', first]);
  return join(first, 'package');
}

/** What a file of an image imports from beside it is in the image, too. */
function checkImports(/** @type {string} */ file, seen = new Set()) {
  if (seen.has(file)) return;
  seen.add(file);
  const code = readFileSync(file, 'utf8');
  for (const [, path = ''] of code.matchAll(/(?:\bfrom |\(|^import )'(\.\.?\/[^']+)'/gm))
    checkImports(join(file, '..', path), seen);
}

/** Both module formats load. */
function loadPackage(/** @type {string} */ path, /** @type {string} */ what) {
  run('-e', `require(${JSON.stringify(join(path, 'dist/index.cjs'))})`);
  run('--input-type=module', '-e', `await import(${JSON.stringify(join(path, 'dist/index.mjs'))})`);
  console.log(`${what}: ok`);
}

function run(/** @type {string[]} */ ...args) {
  execFileSync(process.execPath, args, { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'] });
}

/** By TypeScript: it refuses a field that is not in Kubernetes' types. */
function checkManifests(/** @type {string} */ file) {
  const manifests = parseAllDocuments(readFileSync(join(ROOT, file), 'utf8'));
  const lines = manifests.map((document, i) => {
    const manifest = document.toJS();
    const type = `import('kubernetes-types/${manifest.apiVersion}').${manifest.kind}`;
    return `export const manifest${i}: ${type} = ${JSON.stringify(manifest, null, 2)};\n`;
  });
  const cache = join(ROOT, 'node_modules/.cache/kubernetes'); // finds kubernetes-types
  mkdirSync(cache, { recursive: true });
  writeFileSync(join(cache, 'manifests.ts'), lines.join(''));
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  const args = [tsc, '--noEmit', '--strict', '--ignoreConfig', 'manifests.ts'];
  execFileSync(process.execPath, args, { cwd: cache, stdio: 'inherit' });
  console.log(`${file}: ${manifests.length} manifests are valid`);
}
