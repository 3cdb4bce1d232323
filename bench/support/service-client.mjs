// Guarantees: starts the service in a process of its own, and asks it questions.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { messageOf } from '../../tools/harness.cjs';
import { PEER_SUBJECTS } from '../peers/service-subjects.mjs';

/**
 * Options of Node.js for processes that are compared after they have been idle. On Node.js 24 and
 * 26 V8 gives the heap of an idle process back only if something was ever allocated on its C++
 * heap, as `vm.Script` does, and on 26 an inspector session
 * (https://github.com/nodejs/node/issues/66564), on 20 and 22 always. It costs some 40 ms of CPU,
 * and the next requests grow the heap again: what happens once in some processes and never in
 * others would be taken for the tool's price.
 */
export const NO_MEMORY_REDUCER = ['--no-memory-reducer'];

/**
 * @typedef {{ at: number, cpu: number, rss: number, active: number, idle: number,
 *   requests: number }} Reading of the service: milliseconds, microseconds, bytes, and of the event
 *   loop's time in milliseconds: active and idle
 */

/**
 * @param {string} path of Node.js
 * @param {string} subject one of PEER_SUBJECTS
 * @param {string[]} [execArgv] options of Node.js
 * @param {Record<string, string>} [env] added to that of this process
 */
export async function startService(path, subject, execArgv = [], env = {}) {
  const child = fork(join(import.meta.dirname, 'service.mjs'), [subject], {
    execPath: path,
    execArgv,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const port = await messageOf(child);
  return {
    pid: /** @type {number} */ (child.pid),
    port: Number(port),
    /** @returns {Promise<Reading>} */
    read() {
      child.send('read');
      return messageOf(child);
    },
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      // Not by its own `exit`, at which a profiler writes its files.
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

/**
 * @param {string} path of Node.js
 * @param {string} name one of PEER_SUBJECTS
 * @param {Record<string, string>} [env]
 */
export function startPeer(path, name, env = {}) {
  const { nodeOptions = [], env: ofPeer = {} } = PEER_SUBJECTS[name];
  const execArgv = [...NO_MEMORY_REDUCER, ...nodeOptions];
  return startService(path, name, execArgv, { ...ofPeer, ...env });
}
