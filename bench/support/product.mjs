// Guarantees: a product runs with data of its own until it has been used, and nothing of it is left
// behind. CPU is that of all its processes, as the kernel counts it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../tools/harness.cjs';
import { sendOk } from '../../tools/http-client.cjs';

const START_MILLIS = 180_000;
const ASK_MILLIS = 5000;
const SIGNALS = ['SIGINT', 'SIGTERM'];
const STDERR_CHARACTERS = 200_000;
/** The kernel counts CPU time of a process in hundredths of a second. */
const TICK_MILLIS = 10;
/** In the environment of each process of a product: where its data is. */
const MARK = 'EVENT_LOOP_PRODUCT';

/**
 * @typedef {{ port: number, data: string, folder: string, node: string }} Given
 * @typedef {object} Startable
 * @property {(given: Given) => Record<string, string>} [env]
 * @property {(given: Given) => unknown} [prepare] is awaited before the start
 * @property {RegExp} [readyText] in the answer of a product that answers before it is ready
 *
 * @typedef {{ url: string, data: string, pid: number, startSeconds: number,
 *   cpuMillis: () => number, stderr: () => string }} Running
 */

/**
 * @template T
 * @param {Startable} app
 * @param {object} how
 * @param {string} how.folder
 * @param {string} how.node
 * @param {(given: Given) => [string, ...string[]]} how.command
 * @param {string} how.path answers with 2xx when the product is ready
 * @param {(given: Given) => NodeJS.ProcessEnv} how.env
 * @param {(running: Running) => Promise<T>} use
 * @returns {Promise<T>}
 */
export async function withProduct(app, { folder, node, command, path, env }, use) {
  const data = mkdtempSync(join(tmpdir(), 'products-'));
  const given = { port: await freePort(), data, folder, node };
  try {
    await app.prepare?.(given);
    const began = performance.now();
    const [file, ...args] = command(given);
    // A group of its own: npm starts the product through a shell.
    const child = spawn(file, args, {
      cwd: folder,
      detached: true,
      stdio: ['ignore', 'ignore', 'pipe'],
      env: {
        ...process.env,
        NODE_ENV: 'production',
        PORT: String(given.port),
        HOST: '127.0.0.1',
        ...app.env?.(given),
        ...env(given),
        [MARK]: data,
      },
    });
    const exited = once(child, 'exit');
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (text) => {
      stderr = (stderr + text).slice(-STDERR_CHARACTERS);
    });
    const pid = /** @type {number} */ (child.pid);
    const kill = () => {
      try {
        process.kill(-pid, 'SIGKILL');
      } catch {
        // It has ended by itself.
      }
    };
    const stop = () => {
      kill();
      process.exit(1);
    };
    for (const signal of SIGNALS) process.once(signal, stop);
    try {
      const url = `http://127.0.0.1:${given.port}`;
      await ready(`${url}${path}`, app.readyText ?? /^/, () => child.exitCode ?? child.signalCode);
      return await use({
        url,
        data,
        pid,
        startSeconds: (performance.now() - began) / 1000,
        cpuMillis: () => cpuOf(data),
        stderr: () => stderr,
      });
    } catch (error) {
      throw new Error(`${error}\n${stderr.slice(-4000)}`, { cause: error });
    } finally {
      for (const signal of SIGNALS) process.off(signal, stop);
      kill();
      await exited;
    }
  } finally {
    rmSync(data, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function ready(
  /** @type {string} */ url,
  /** @type {RegExp} */ text,
  /** @type {() => unknown} */ ended,
) {
  for (const until = performance.now() + START_MILLIS; performance.now() < until; ) {
    if (ended() !== null) throw new Error(`it ended: ${ended()}`);
    const answer = await sendOk(url, { timeoutMillis: ASK_MILLIS }).catch(() => undefined);
    if (answer !== undefined && text.test(String(answer.body))) return;
    await sleep(20);
  }
  throw new Error('it did not start');
}

/** Of all processes that have the mark, and of those that they have waited for. */
function cpuOf(/** @type {string} */ data) {
  let ticks = 0;
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      if (!readFileSync(`/proc/${pid}/environ`, 'latin1').includes(`${MARK}=${data}`)) continue;
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
      for (const field of fields.slice(11, 15)) ticks += Number(field);
    } catch {
      // It has ended meanwhile.
    }
  }
  return ticks * TICK_MILLIS;
}
