// Promises: starts the service in a process of its own, and asks it questions.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** @typedef {{ at: number, cpu: number, rss: number, requests: number }} Reading of the service: milliseconds, microseconds, bytes */

/**
 * @param {string} path of Node.js
 * @param {string} subject one of SERVICE_SUBJECTS
 * @param {string[]} [execArgv] options of Node.js
 */
export async function startService(path, subject, execArgv = []) {
  const child = fork(join(import.meta.dirname, 'service.mjs'), [subject], { execPath: path, execArgv });
  const [port] = await once(child, 'message');
  return {
    pid: /** @type {number} */ (child.pid),
    port: Number(port),
    /** @returns {Promise<Reading>} */
    async ask(/** @type {'on' | 'off' | 'read'} */ question) {
      child.send(question);
      const [reading] = await once(child, 'message');
      return reading;
    },
    async stop() {
      child.disconnect();
      await once(child, 'exit');
    },
  };
}
