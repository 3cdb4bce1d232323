// Guarantees: an application is started as its users do, asked case by case, and stopped. Nothing
// of it is left behind.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../../tools/harness.cjs';
import { PACKAGE_NAME } from '../../../tools/paths.cjs';
import { startSink } from '../../support/load.mjs';
import { Client } from './client.mjs';
import { CACHE } from './install.mjs';
import { RunTimes } from './run-times.mjs';

export const THRESHOLD_MILLIS = 20;
const START_MILLIS = 60_000;
const ASK_MILLIS = 40_000;
const STOP_MILLIS = 15_000;
/** So that what a case leaves to be done later is not the next case's. */
const GAP_MILLIS = 150;

/**
 * @typedef {{ file?: string, in?: string[], names?: string[], packages?: string[] }} Label
 *   `in`: pieces of the first lines of functions in `file`; `names`: functions of the application;
 *   `packages`: direct dependencies, or files of a product's packages, if none of the application's
 *   functions is on the stack
 * @typedef {{ name: string, ask(client: Client): Promise<unknown>, right: Label | Label[],
 *   parent?: boolean, varies?: boolean }} Case
 *   `parent: false`: the block is in no request; `varies`: the answer is never twice the same
 * @typedef {{ title: string, cases: Case[],
 *   preload?: '--import' | '--require', ready?: string,
 *   build?: string[][], args: (given: { port: number, data: string }) => string[],
 *   env?: (given: { port: number, data: string }) => Record<string, string>,
 *   prepare?: (given: { data: string, folder: string }) => unknown,
 *   dispatchers?: string[], consumers?: import('./consumers.mjs').Consumer[] }} App
 *   `dispatchers`: packages, or files of them, that a product calls everything through: they are
 *   never right
 *
 * @typedef {{ case: Case, round: number, fromMicros: number, untilMicros: number,
 *   fromUnix: number, untilUnix: number, traceIds: string[],
 *   otherIds: string[], answers: string }} Asked
 * @typedef {{ asked: Asked[], exit: string, stdout: string, stderr: string, readyUnix: number,
 *   clock: { micros: number, unix: number },
 *   blocks: any[], profiles: any[], runTimes: RunTimes }} Launch
 */

const micros = () => Number(process.hrtime.bigint() / 1000n);
const unix = () => performance.timeOrigin + performance.now();

/**
 * @typedef {{ name: string, preloads: string[] }} Tool
 */

/** @type {Tool} */
export const NO_TOOL = { name: 'without the package', preloads: [] };

/** @returns {Tool} */
export const thisPackage = (/** @type {App} */ app) => ({
  name: 'with the package',
  preloads: [
    app.preload ?? '--require',
    `${PACKAGE_NAME}/register`,
    '--require',
    join(CACHE, 'blocks.cjs'),
  ],
});

/**
 * @param {App} app
 * @param {string} node
 * @param {string} folder
 * @param {Tool} tool V8's profiler runs beside it
 * @param {number} rounds
 * @returns {Promise<Launch>}
 */
export async function launch(app, node, folder, tool, rounds) {
  const data = mkdtempSync(join(tmpdir(), 'real-apps-'));
  const given = { port: await freePort(), data };
  const collector = await startSink();
  writeFileSync(join(data, 'blocks'), '');
  await app.prepare?.({ data, folder });
  const preloads = [...tool.preloads, '--require', join(CACHE, 'profile.cjs')];
  const child = spawn(node, [...preloads, ...app.args(given)], {
    cwd: folder,
    env: {
      ...process.env,
      // For what starts others by name.
      PATH: `${dirname(realpathSync(node))}${delimiter}${process.env['PATH']}`,
      NODE_ENV: 'production',
      NODE_OPTIONS: '',
      PORT: String(given.port),
      HOST: '127.0.0.1',
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_INSTRUMENTATION_EVENT_LOOP_THRESHOLD_MILLIS: String(THRESHOLD_MILLIS),
      REAL_APPS_BLOCKS: join(data, 'blocks'),
      REAL_APPS_PROFILES: data,
      ...app.env?.(given),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const runTimes = new RunTimes(data, unix);
  const exited = once(child, 'close');
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text));
  try {
    const client = new Client(`http://127.0.0.1:${given.port}`, folder);
    await ready(client, app.ready ?? '/', () => child.exitCode ?? child.signalCode);
    await sleep(1200);
    const readyUnix = unix();
    /** @type {Asked[]} */
    const asked = [];
    for (let round = 0; round < rounds; round++) {
      for (const each of app.cases) {
        client.begin();
        const from = { fromMicros: micros(), fromUnix: unix() };
        await Promise.race([each.ask(client), late(each.name)]);
        await sleep(GAP_MILLIS);
        asked.push({
          case: each,
          round,
          ...from,
          untilMicros: micros(),
          untilUnix: unix(),
          traceIds: client.traceIds,
          otherIds: client.otherIds,
          answers: client.answers,
        });
      }
    }
    await sleep(300);
    const clock = { micros: micros(), unix: unix() };
    const profiles = await collectProfiles(data);
    child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MILLIS);
    const [code, signal] = await exited;
    clearTimeout(timer);
    const blocks = readFileSync(join(data, 'blocks'), 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line));
    return {
      asked,
      exit: String(signal ?? code),
      stdout,
      stderr,
      readyUnix,
      clock,
      blocks,
      profiles,
      runTimes,
    };
  } catch (error) {
    throw new Error(
      `${app.title}, ${tool.name}: ${error}\n${stdout.slice(-2000)}\n${stderr.slice(-4000)}`,
    );
  } finally {
    runTimes.stop();
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
    collector.close();
    rmSync(data, { recursive: true, force: true });
  }
}

async function late(/** @type {string} */ name) {
  await sleep(ASK_MILLIS, undefined, { ref: false });
  throw new Error(`no answer to ${name}`);
}

/** Of every process that has been started and lives still. */
export async function collectProfiles(/** @type {string} */ folder) {
  const pids = readdirSync(folder)
    .filter((name) => name.endsWith('.started'))
    .map((name) => Number.parseInt(name, 10))
    .filter((pid) => {
      try {
        return process.kill(pid, 'SIGIO');
      } catch {
        return false;
      }
    });
  const profiles = [];
  for (const pid of pids) {
    for (const until = Date.now() + 20_000; Date.now() < until; await sleep(50)) {
      try {
        profiles.push({
          pid,
          ...JSON.parse(readFileSync(join(folder, `${pid}.cpuprofile`), 'utf8')),
        });
        break;
      } catch {
        // Not written yet.
      }
    }
  }
  if (profiles.length === 0) throw new Error('there is no profile');
  return profiles;
}

async function ready(
  /** @type {Client} */ client,
  /** @type {string} */ path,
  /** @type {() => unknown} */ ended,
) {
  for (const until = Date.now() + START_MILLIS; Date.now() < until; await sleep(100)) {
    if (ended() !== null) throw new Error(`it ended: ${ended()}`);
    const response = await fetch(`${client.url}${path}`).catch(() => undefined);
    await response?.arrayBuffer();
    if (response?.ok) return;
  }
  throw new Error('it did not start');
}
