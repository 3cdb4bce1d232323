// Guarantees: one suite is run once, in one of the ways, under a time limit; the outcome of each of
// its tests.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { PACKAGE_NAME, ROOT } from '../../tools/paths.cjs';
import { endGroup } from '../matrix/suite.mjs';

/** @import { Suite } from './subjects.mjs' */

/**
 * Not below the repository, whose packages a suite would find as well, and not in a hidden folder,
 * from which `send` serves nothing.
 */
const PEERS = join(tmpdir(), 'event-loop-peers');
/** The packed tarball, installed beside an SDK. */
export const PACKAGE_FOLDER = join(PEERS, 'package');
export const sourceFolder = (/** @type {string} */ name) => join(PEERS, 'sources', name);
/** Ignored by git. */
const RESULTS = join(ROOT, '.peers');
const LIMIT_MILLIS = 20 * 60_000;
/** How long a process may go on after its last test: one that does not end is an outcome, too. */
const END_MILLIS = 20_000;
const SUPPORT = join(import.meta.dirname, 'support');

/** What is preloaded, into each process that a suite starts. */
export const WAYS = {
  plain: '',
  hooks: `--import "${pathToFileURL(join(PACKAGE_FOLDER, 'hooks.mjs'))}"`,
  class: `--require "${join(PACKAGE_FOLDER, 'class.cjs')}"`,
  register: `--import "${pathToFileURL(
    join(PACKAGE_FOLDER, 'node_modules', PACKAGE_NAME, 'dist/register.mjs'),
  )}"`,
};

/**
 * What each is compared with: import-in-the-middle, by which OpenTelemetry patches ES modules,
 * changes errors of `import`, whoever asks for it.
 * @type {Record<'class' | 'register', 'plain' | 'hooks'>}
 */
export const BASELINES = { class: 'plain', register: 'hooks' };

/**
 * @typedef {object} Run
 * @property {Map<string, string>} outcomes of each test, by its name, and of the process by
 *   `(exit)`: its code, or the signal that ended it
 * @property {Map<string, string>} messages of those that failed
 * @property {number} seconds
 * @property {string} log
 */

/**
 * @param {string} id of subject and suite
 * @param {Suite} suite
 * @param {string} folder
 * @param {keyof typeof WAYS} way
 * @param {{ node: string, attempt: number }} options
 * @returns {Promise<Run>}
 */
export async function runSuite(id, suite, folder, way, { node, attempt }) {
  mkdirSync(RESULTS, { recursive: true });
  const file = join(RESULTS, `${id}-${way}-${attempt}.jsonl`);
  const log = join(RESULTS, `${id}-${way}-${attempt}.log`);
  rmSync(file, { force: true });
  const output = openSync(log, 'w');
  const args =
    suite.runner === 'mocha'
      ? [mochaOf(folder), '--reporter', join(SUPPORT, 'mocha-reporter.cjs'), ...suite.args]
      : [
          '--test',
          '--test-concurrency=2',
          `--test-reporter=${join(SUPPORT, 'node-reporter.mjs')}`,
          `--test-reporter-destination=${file}`,
          ...suite.args.flatMap((pattern) => filesIn(folder, pattern)),
        ];
  const started = performance.now();
  const child = spawn(node, args, {
    cwd: folder,
    detached: true, // a process group of its own, to be ended as a whole
    stdio: ['ignore', output, output],
    env: { ...environment(), NODE_OPTIONS: WAYS[way], PEERS_OUTCOMES: file },
  });
  const limit = setTimeout(() => endGroup(child.pid), LIMIT_MILLIS);
  const watch = setInterval(() => {
    if (!hasEnded(file)) return;
    clearInterval(watch);
    setTimeout(() => endGroup(child.pid), END_MILLIS).unref();
  }, 1000);
  const exit = await new Promise((resolve) => {
    child
      .once('error', ({ message }) => resolve(message))
      .once('exit', (code, signal) => resolve(`${code ?? signal}`));
  });
  clearTimeout(limit);
  clearInterval(watch);
  endGroup(child.pid);
  return { ...read(file, exit), seconds: (performance.now() - started) / 1000, log };
}

/** The same in every way, but for NODE_OPTIONS. */
function environment() {
  const own = Object.entries(process.env).filter(
    ([key]) => !/^(OTEL_|NODE_|npm_|FORCE_COLOR|GITHUB_|CI$)/.test(key),
  );
  return {
    ...Object.fromEntries(own),
    NO_COLOR: '1',
    OTEL_TRACES_EXPORTER: 'none',
    OTEL_METRICS_EXPORTER: 'none',
    OTEL_LOGS_EXPORTER: 'none',
    // Where /register finds an SDK.
    NODE_PATH: join(PACKAGE_FOLDER, 'node_modules'),
  };
}

/** Node.js 20 takes no patterns. */
function filesIn(/** @type {string} */ folder, /** @type {string} */ pattern) {
  const top = pattern.slice(0, pattern.indexOf('/'));
  const expression = pattern
    .replace(/[.]/g, '\\.')
    .replace(/\*\*\/|\*/g, (star) => (star === '*' ? '[^/]*' : '(?:.*/)?'));
  const matches = new RegExp(`^${expression}$`);
  return readdirSync(join(folder, top), { recursive: true, encoding: 'utf8' })
    .map((file) => `${top}/${file}`)
    .filter((file) => matches.test(file))
    .sort();
}

/** Its own suite runs on itself. */
function mochaOf(/** @type {string} */ folder) {
  const own = manifestOf(folder);
  const mocha = own.name === 'mocha' ? folder : join(folder, 'node_modules/mocha');
  return join(mocha, manifestOf(mocha).bin.mocha);
}

function manifestOf(/** @type {string} */ folder) {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
}

/** Whether all tests have, which mocha's reporter sets down. */
function hasEnded(/** @type {string} */ file) {
  return existsSync(file) && readFileSync(file, 'utf8').trimEnd().endsWith('{"end":true}');
}

/** @returns {Pick<Run, 'outcomes' | 'messages'>} */
function read(/** @type {string} */ file, /** @type {string} */ exit) {
  const outcomes = new Map([['(exit)', exit]]);
  const messages = new Map();
  const lines = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
  for (const line of lines.filter((each) => each !== '')) {
    const { name, outcome, message, end } = JSON.parse(line);
    if (end) continue;
    // Several tests may have one name.
    let unique = name;
    for (let i = 2; outcomes.has(unique); i++) unique = `${name} (${i})`;
    outcomes.set(unique, outcome);
    if (outcome === 'failed') messages.set(unique, `${message ?? ''}`.split('\n')[0]);
  }
  return { outcomes, messages };
}
