// Guarantees: each output can be deleted. In a copy of the sources it deletes the folder of one
// output, its own entries and the lines that register it; what is left type-checks, can be bundled,
// and finds a block.
//
//   node scripts/check-outputs.mjs              all outputs, one after the other
//   node scripts/check-outputs.mjs outputs/console
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { generateWorkerCode } from './worker-code.mjs';

const ROOT = path.resolve(fileURLToPath(import.meta.url), '../..');

/** In this list, each line that names the folder of an output is its registration. */
const LIST = 'outputs/outputs.ts';
/**
 * What an output has beside its folder and its lines in the list: files, and text in other files.
 * @type {Record<string, { files?: string[], text?: Record<string, RegExp> }>}
 */
const OUTPUTS = {
  'outputs/console': {
    files: ['console.ts', 'console-report.ts'],
    text: { 'core.ts': /^.*console-report.*\n/m },
  },
  'outputs/html-report': {},
  'threads/health-server': {},
  'outputs/recording': {},
  'entries/testing': { files: ['testing.ts'] },
};
/** Without any output, blocks are published on their channel. */
const SMOKE = `
const { subscribe } = require('node:diagnostics_channel');
const { BLOCK_CHANNEL, EventLoopInstrumentation } = require('./index.cjs');
subscribe(BLOCK_CHANNEL, ({ block }) => console.log('found', block.code?.functionName));
const eventLoop = new EventLoopInstrumentation({ thresholdMillis: 200 });
function blocks() {
  for (const end = Date.now() + 1000; Date.now() < end; );
}
// ready() keeps no process alive.
const alive = setInterval(() => {}, 1000);
eventLoop.ready().then(() => setTimeout(() => (clearInterval(alive), blocks()), 50));
`;
const ENTRIES = ['index.ts', 'console.ts', 'register.ts', 'testing.ts'];

const wanted = process.argv.slice(2);
const names = wanted.length > 0 ? wanted : Object.keys(OUTPUTS);
await generateWorkerCode();
const folder = mkdtempSync(path.join(tmpdir(), 'outputs-'));
const src = path.join(folder, 'src');
try {
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'));
  cpSync(path.join(ROOT, 'package.json'), path.join(folder, 'package.json'));
  const { compilerOptions } = JSON.parse(readFileSync(path.join(ROOT, 'tsconfig.json'), 'utf8'));
  const options = { ...compilerOptions, types: ['node'], incremental: true, skipLibCheck: true };
  const config = { compilerOptions: options, include: ['src'] };
  writeFileSync(path.join(folder, 'tsconfig.json'), JSON.stringify(config));
  for (const name of names) await check(name);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function check(/** @type {string} */ name) {
  rmSync(src, { recursive: true, force: true });
  cpSync(path.join(ROOT, 'src'), src, { recursive: true });
  remove(name);
  const tsc = path.join(ROOT, 'node_modules', '.bin', 'tsc');
  const { status, stdout } = spawnSync(tsc, ['-p', folder], { cwd: folder, encoding: 'utf8' });
  const errors = status === 0 ? [] : [stdout.trim()];
  const left = readdirSync(src, { recursive: true, encoding: 'utf8' });
  const entries = left.filter((file) => ENTRIES.includes(file) || file.endsWith('.worker.ts'));
  try {
    await build({
      absWorkingDir: folder,
      entryPoints: entries.map((file) => `src/${file}`),
      bundle: true,
      outdir: 'dist',
      outExtension: { '.js': '.cjs' },
      platform: 'node',
      format: 'cjs',
      external: ['@opentelemetry/api'],
      logLevel: 'silent',
    });
    writeFileSync(path.join(folder, 'dist', 'smoke.cjs'), SMOKE);
    const smoke = spawnSync(process.execPath, ['dist/smoke.cjs'], {
      cwd: folder,
      encoding: 'utf8',
    });
    if (smoke.stdout !== 'found blocks\n') errors.push(`${smoke.stdout}${smoke.stderr}`);
  } catch (error) {
    errors.push(String(error));
  }
  console.log(`without ${name}: ${errors.length === 0 ? 'ok' : 'FAILED'}`);
  for (const error of errors) console.log(error);
  if (errors.length > 0) process.exitCode = 1;
}

function remove(/** @type {string} */ name) {
  const { files = [], text = {} } = OUTPUTS[name] ?? {};
  if (!Object.hasOwn(OUTPUTS, name)) throw new Error(`${name} is no output`);
  for (const each of [name, ...files]) rmSync(path.join(src, each), { recursive: true });
  edit(LIST, withoutRegistration(name));
  for (const [file, pattern] of Object.entries(text)) {
    const before = readFileSync(path.join(src, file), 'utf8');
    const after = before.replace(pattern, '');
    if (after === before) throw new Error(`nothing registers ${name} in ${file}`);
    edit(file, after);
  }
}

/** Without the import from the folder, and the line of the list that has what is imported. */
function withoutRegistration(/** @type {string} */ name) {
  const before = readFileSync(path.join(src, LIST), 'utf8');
  const imported = new RegExp(
    `^import \\{ (\\w+) \\} from '\\.[^']*/${path.basename(name)}/.*\n`,
    'm',
  ).exec(before);
  if (imported === null) return before;
  const entry = new RegExp(`^  ${imported[1]},.*\n`, 'm');
  return before.replace(imported[0], '').replace(entry, '');
}

function edit(/** @type {string} */ file, /** @type {string} */ content) {
  writeFileSync(path.join(src, file), content);
}
