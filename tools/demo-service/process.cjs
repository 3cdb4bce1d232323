// Guarantees: the demo's service as a child process: started until it listens, stopped so that it
// has flushed its telemetry, and never left behind. It also ends by itself when this process is
// gone (see `disconnect` in demo/telemetry.cjs).
const { spawn } = require('node:child_process');
const { once } = require('node:events');
const { join } = require('node:path');
const { createInterface } = require('node:readline');
const { plainEnvironment } = require('../harness.cjs');

/** @import { Readable } from 'node:stream' */

const STOP_TIMEOUT_MILLIS = 10_000;
const inDemo = (/** @type {string} */ file) => join(__dirname, '../../demo', file);

/**
 * @typedef {object} Service
 * @property {string} url
 * @property {number} pid
 * @property {Promise<unknown>} exited
 * @property {() => string} errors what it wrote to stderr
 * @property {() => Promise<void>} stop rejected when the service did not end well
 *
 * @param {Record<string, string>} env added to a clean environment
 * @returns {Promise<Service>} once the service listens
 */
async function startService(env) {
  const child = spawn(
    process.execPath,
    ['--require', inDemo('telemetry.cjs'), inDemo('service.cjs')],
    {
      env: { ...plainEnvironment(), ...env },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    },
  );
  // they are pipes
  const [stdout, stderr] = /** @type {[Readable, Readable]} */ ([child.stdout, child.stderr]);
  const killChild = () => child.kill('SIGKILL');
  process.once('exit', killChild);

  let errors = '';
  stderr.setEncoding('utf8').on('data', (chunk) => {
    errors += chunk;
  });

  const exited = once(child, 'exit');
  const url = await Promise.race([listeningUrl(stdout), exited.then(() => undefined)]);
  if (!url) throw new Error(`the service ended before it listened:\n${errors}`);

  return {
    url,
    pid: /** @type {number} */ (child.pid), // it listens, so it was started
    exited,
    errors: () => errors,
    async stop() {
      if (child.connected) child.disconnect();
      const timeout = setTimeout(killChild, STOP_TIMEOUT_MILLIS);
      const [code, signal] = await exited;
      clearTimeout(timeout);
      process.off('exit', killChild);
      if (code !== 0) throw new Error(`the service ended with ${signal ?? `exit code ${code}`}`);
    },
  };
}

/**
 * The address in the service's first `listening on …` line; goes on reading so that the service
 * never stalls on output.
 * @returns {Promise<string>}
 */
function listeningUrl(/** @type {Readable} */ stdout) {
  return new Promise((resolve) => {
    createInterface({ input: stdout }).on('line', (line) => {
      const url = /listening on (http:\S+)/.exec(line)?.[1];
      if (url) resolve(url);
    });
  });
}

module.exports = { startService };
