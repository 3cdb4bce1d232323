// Guarantees: the services of `bench/cost/package`, each a process of its own with what is
// preloaded and nothing else, and the load that they get.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { messageOf, plainEnvironment } from '../../tools/harness.cjs';
import { FOLDER } from './install.mjs';

/**
 * @typedef {Awaited<ReturnType<typeof startService>>} Service
 * @typedef {Awaited<ReturnType<typeof startClient>>} Client
 */

/** @param {string} connections */
export async function startClient(connections) {
  const child = fork(join(import.meta.dirname, 'client.mjs'), [connections]);
  const sink = Number(await messageOf(child));
  return {
    /** Port of what takes the telemetry. */
    sink,
    /** @returns {Promise<{ requests: number, p50: number, p99: number }>} */
    load(/** @type {import('./client.mjs').Order} */ order) {
      child.send(order);
      return messageOf(child);
    },
    stop: () => end(child),
  };
}

/**
 * @param {string} path of Node.js
 * @param {string} framework
 * @param {{ name: string, nodeArgs: string[], env?: Record<string, string> }} subject
 * @param {number} sink
 */
export async function startService(path, framework, { name, nodeArgs, env }, sink) {
  const child = fork(join(FOLDER, `${framework}.cjs`), {
    cwd: FOLDER,
    execPath: path,
    execArgv: nodeArgs,
    env: {
      ...plainEnvironment(),
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${sink}`,
      OTEL_TRACES_EXPORTER: 'otlp',
      OTEL_METRICS_EXPORTER: 'otlp',
      OTEL_LOGS_EXPORTER: 'none',
      OTEL_NODE_RESOURCE_DETECTORS: 'none',
      OTEL_SERVICE_NAME: name,
      ...env,
    },
  });
  const port = Number(await messageOf(child));
  return {
    port,
    ask(/** @type {unknown} */ message) {
      child.send(message);
      return messageOf(child);
    },
    stop: () => end(child),
  };
}

async function end(/** @type {import('node:child_process').ChildProcess} */ child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.disconnect();
  await once(child, 'exit');
}
