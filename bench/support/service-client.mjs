// Promises: starts the service in a process of its own, and asks it questions.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { messageOf } from './child-message.mjs';

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
 * @typedef {{ at: number, cpu: number, rss: number, requests: number }} Reading of the service:
 *   milliseconds, microseconds, bytes
 */

/**
 * @param {string} path of Node.js
 * @param {string} subject one of SERVICE_SUBJECTS, or `peer: ` and one of PEER_SUBJECTS
 * @param {string[]} [execArgv] options of Node.js
 */
export async function startService(path, subject, execArgv = []) {
  const child = fork(join(import.meta.dirname, 'service.mjs'), [subject], {
    execPath: path,
    execArgv,
  });
  const port = await messageOf(child);
  return {
    pid: /** @type {number} */ (child.pid),
    port: Number(port),
    /** @returns {Promise<Reading>} */
    ask(/** @type {'on' | 'off' | 'read'} */ question) {
      child.send(question);
      return messageOf(child);
    },
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.disconnect();
      await once(child, 'exit');
    },
  };
}
