// One real server as a child process: started until it is ready, stopped for certain, its output
// kept for when something fails.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { eventually } from '../../../tools/harness.cjs';
import { sendOk } from '../../../tools/http-client.cjs';

const SUPERVISOR = join(import.meta.dirname, 'supervisor.mjs');
const READY_MILLIS = 60_000;
const STOP_MILLIS = 20_000;
/** Characters: the events of a loaded machine have some kB each, and tests look for one of them. */
const KEPT_OUTPUT = 1_000_000;
/** Characters of an error message. */
const LAST_OUTPUT = 20_000;

/**
 * @typedef {object} RunningServer
 * @property {() => string} output its last lines
 * @property {() => Promise<void>} stop by SIGTERM; by SIGKILL when it takes longer than it may
 * @property {() => Promise<void>} kill by SIGKILL
 *
 * @param {string} name
 * @param {string[]} command
 * @param {Record<string, string>} env added to nothing but PATH and HOME
 * @param {string} readyUrl answers 2xx when it is ready
 * @returns {Promise<RunningServer>}
 */
export async function startServer(name, [program, ...args], env, readyUrl) {
  const supervisor = fork(SUPERVISOR, [program, ...args], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
    execArgv: [],
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let output = '';
  for (const stream of [supervisor.stdout, supervisor.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk) => {
      output = (output + chunk).slice(-KEPT_OUTPUT);
    });
  }
  const exited = once(supervisor, 'exit');
  let running = true;
  exited.then(() => {
    running = false;
  });

  let asked = false;

  async function end(signal) {
    if (!running && !asked)
      throw new Error(`${name} has ended by itself; it wrote:\n${output.slice(-LAST_OUTPUT)}`);
    asked = true;
    if (!running) return;
    supervisor.send({ signal });
    const timer = setTimeout(() => running && supervisor.send({ signal: 'SIGKILL' }), STOP_MILLIS);
    await exited;
    clearTimeout(timer);
  }
  const server = { output: () => output, stop: () => end('SIGTERM'), kill: () => end('SIGKILL') };

  try {
    await eventually(`${name} is ready at ${readyUrl}`, READY_MILLIS, async () => {
      if (!running) return true;
      return Boolean(await sendOk(readyUrl));
    });
    if (!running) throw new Error(`${name} ended`);
  } catch (error) {
    if (running) await server.kill();
    throw new Error(`${error.message}\n${name} wrote:\n${output.slice(-LAST_OUTPUT)}`, {
      cause: error,
    });
  }
  return server;
}
