// Guarantees: after `buildIfStale`, `dist/` is what `build` makes of the sources as they are now.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import * as esbuild from 'esbuild';
import { buildReportPage } from './report-page.mjs';
import { generateWorkerCode } from './worker-code.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** The code of the package, in CommonJS: entries in both formats import it, so it exists once. */
const SHARED = ['src/core.ts', 'src/entries/register/register.ts'];
const TARGET = 'node20.18'; // the oldest that `engines` allows
/**
 * Strings stay on one line, however long: rollup indents CommonJS, and what goes on in the next
 * line of a string, too.
 */
const LINE_CONTINUATION = '\\\n';
/** What is not published. */
const CACHE = path.join(ROOT, 'node_modules', '.cache', 'event-loop-build');
/** Of which sources `dist/` was made. */
const STAMP = path.join(CACHE, 'sources');
/** What esbuild says of everything that is in `dist/`. */
export const METAFILE = path.join(CACHE, 'metafile.json');
/** What `dist/` is made of, beside `src/` and `page/`. */
const INPUTS = [
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'scripts/module-url.js',
  'scripts/package-build.mjs',
  'scripts/report-page.mjs',
];
/** Read by the built entries when a report is written, see src/outputs/html-report/page-file.ts. */
const REPORT_PAGE = path.join(ROOT, 'dist', 'report-page.html');

const manifest = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8'));
const conditions = Object.values(manifest.exports ?? {}).filter(
  (entry) => entry.import !== undefined,
);
const entries = conditions.map((entry) => entry.import.default);
/** Run as they are, as ES modules. */
const commands = Object.values(manifest.bin ?? {});
const outputs = [
  ...conditions.flatMap(({ import: esm, require: cjs }) =>
    [esm, cjs].flatMap((files) => Object.values(files)),
  ),
  ...commands,
];

/** Whether this folder is the package itself, and not one where its tarball is tested. */
export const isPackage = manifest.exports !== undefined;

export async function build() {
  const workers = await generateWorkerCode();
  const sources = hashSources();
  rmSync(STAMP, { force: true });
  rmSync(`${ROOT}dist`, { recursive: true, force: true });
  const [esm, cjs] = await Promise.all([buildCode('esm'), buildCode('cjs'), buildTypes()]);
  const metafiles = [...workers, esm, cjs, await buildReportPage(REPORT_PAGE)];
  const metafile = {
    inputs: Object.assign({}, ...metafiles.map(({ inputs }) => inputs)),
    outputs: Object.fromEntries(metafiles.flatMap(({ outputs }, i) => partsOf(outputs, i))),
  };
  mkdirSync(CACHE, { recursive: true });
  writeFileSync(METAFILE, JSON.stringify(metafile));
  writeFileSync(path.join(ROOT, 'dist', 'LICENSES.txt'), licensesOf(metafile.outputs));
  writeFileSync(STAMP, sources);
}

/** Without the inputs of which nothing is left, and under names that no other build has. */
function partsOf(
  /** @type {import('esbuild').Metafile['outputs']} */ outputs,
  /** @type {number} */ build,
) {
  return Object.entries(outputs).map(([file, { inputs, ...output }]) => {
    const left = Object.entries(inputs).filter(([, { bytesInOutput }]) => bytesInOutput > 0);
    return [`${build}/${file}`, { ...output, inputs: Object.fromEntries(left) }];
  });
}

/** The licenses of the packages that are part of the code: each wants to go with it. */
function licensesOf(/** @type {Record<string, { inputs: object }>} */ outputs) {
  const files = Object.values(outputs).flatMap(({ inputs }) => Object.keys(inputs));
  const folders = files.map((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0]);
  return [...new Set(folders)]
    .filter((folder) => folder !== undefined)
    .sort()
    .map((folder) => {
      const license = readdirSync(path.join(ROOT, folder)).find((file) =>
        /^licen[cs]e/i.test(file),
      );
      if (license === undefined) throw new Error(`${folder} has no license`);
      const text = readFileSync(path.join(ROOT, folder, license), 'utf8').trim();
      return `${folder.replace(/^.*node_modules\//, '')}\n\n${text}\n`;
    })
    .join('\n');
}

async function buildCode(/** @type {'esm' | 'cjs'} */ format) {
  const extension = format === 'esm' ? '.mjs' : '.cjs';
  const runnable = format === 'esm' ? [...entries, ...commands] : entries;
  const files = runnable.map((entry) => `src/${nameOf(entry)}.ts`);
  const { outputFiles, metafile } = await esbuild.build({
    absWorkingDir: ROOT,
    metafile: true,
    write: false,
    entryPoints: format === 'cjs' ? [...files, ...SHARED] : files,
    outbase: 'src',
    outdir: 'dist',
    outExtension: { '.js': extension },
    bundle: true,
    platform: 'node',
    format,
    target: TARGET,
    external: [manifest.name, ...Object.keys(manifest.peerDependencies)],
    plugins: [{ name: 'shared', setup: (esbuild) => keepSharedApart(esbuild, extension) }],
    ...(format === 'cjs' && {
      inject: [path.join(ROOT, 'scripts', 'module-url.js')],
      define: { 'import.meta.url': 'moduleUrl.href' },
    }),
    // Names stay: they are in stack traces.
    minifyWhitespace: true,
    minifySyntax: true,
    lineLimit: 100,
    charset: 'utf8',
    legalComments: 'none',
  });
  for (const { path: file, text } of outputFiles) {
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text.replaceAll(LINE_CONTINUATION, ''));
  }
  return metafile;
}

function keepSharedApart(
  /** @type {import('esbuild').PluginBuild} */ { onResolve },
  /** @type {string} */ extension,
) {
  const elsewhere = (/** @type {string} */ file) => ({ path: file, external: true });
  onResolve({ filter: /^(?:\.\.?\/)+core\.ts$/ }, () => elsewhere('./core.cjs'));
  onResolve({ filter: /^\.\/entries\/register\/register\.ts$/ }, () =>
    elsewhere('./entries/register/register.cjs'),
  );
  if (extension === '.mjs')
    onResolve({ filter: /^\.\/entries\/testing\/.*\.ts$/ }, () => elsewhere('./testing.cjs'));
}

/**
 * Entries that export nothing have no types. ES modules have the types of CommonJS: of two sets of
 * declarations, the private members of one class would not fit those of the other.
 */
async function buildTypes() {
  // By Node.js: what is in `.bin` is a shell's on Windows.
  const pkgroll = path.join(ROOT, 'node_modules', 'pkgroll', 'dist', 'cli.mjs');
  const exporting = ['index', 'testing'];
  const run = promisify(execFile);
  const args = exporting.map((name) => `--packagejson=./dist/${name}.d.cts`);
  const { stdout, stderr } = await run(process.execPath, [pkgroll, `--target=${TARGET}`, ...args], {
    cwd: ROOT,
  });
  process.stderr.write(stdout + stderr);
  for (const file of outputs.filter((output) => /\.d\.[cm]ts$/.test(output))) {
    const name = nameOf(file);
    if (!exporting.includes(name)) writeFileSync(path.join(ROOT, file), 'export {};\n');
    else if (file.endsWith('.d.mts'))
      writeFileSync(path.join(ROOT, file), `export * from './${name}.cjs';\n`);
  }
}

const nameOf = (/** @type {string} */ output) => path.basename(output).split('.', 1)[0];

export async function buildIfStale() {
  await generateWorkerCode();
  const made = [...outputs.map((file) => path.join(ROOT, file)), REPORT_PAGE].every((file) =>
    existsSync(file),
  );
  if (made && existsSync(STAMP) && readFileSync(STAMP, 'utf8') === hashSources()) return;
  await build();
}

/**
 * Of the contents, not of the times: a checkout changes those, and a file that is gone has none.
 */
function hashSources() {
  const sources = ['src', 'page']
    .flatMap((folder) =>
      readdirSync(path.join(ROOT, folder), { recursive: true, withFileTypes: true }),
    )
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(ROOT, path.join(entry.parentPath, entry.name)));
  const hash = createHash('sha256');
  for (const file of [...INPUTS, ...sources.sort()]) {
    hash
      .update(`${file}\0`)
      .update(readFileSync(path.join(ROOT, file)))
      .update('\0');
  }
  return hash.digest('hex');
}
