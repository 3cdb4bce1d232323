// Guarantees: a closed loop: so many keep-alive connections, each with one request under way at any
// time. An open loop: requests are sent when they are due, whether earlier ones are answered or
// not, and each latency counts from the time at which its request was due: no coordinated omission.
// And a collector that takes everything and keeps nothing.
import { once } from 'node:events';
import { Agent, createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { sendOk } from '../../tools/http-client.cjs';
import { generator } from '../../tools/statistics.cjs';

/**
 * @param {string} url
 * @param {object} load
 * @param {number} load.connections
 * @param {number} [load.requests] it ends when so many are sent
 * @param {number} [load.millis] or after this time
 * @param {Agent} [load.agent] keeps its connections open
 * @returns {Promise<number[]>} latencies in milliseconds
 */
export async function closedLoop(url, { connections, requests, millis, agent }) {
  const own = agent ?? new Agent({ keepAlive: true, maxSockets: connections });
  const end = performance.now() + (millis ?? Number.POSITIVE_INFINITY);
  let left = requests ?? Number.POSITIVE_INFINITY;
  /** @type {number[]} */
  const latencies = [];
  const connection = async () => {
    while (left-- > 0 && performance.now() < end) {
      const start = performance.now();
      await sendOk(url, { agent: own });
      latencies.push(performance.now() - start);
    }
  };
  await Promise.all(Array.from({ length: connections }, connection));
  if (agent === undefined) own.destroy();
  return latencies;
}

/**
 * @param {number} port
 * @param {object} options
 * @param {string} options.path
 * @param {number[]} options.due milliseconds from the start, ascending
 * @param {number} options.connections most connections; requests that are due wait for one
 * @returns {Promise<{ latencies: number[], answered: number }>} when all have been answered: their
 *   latencies, and how many were answered by the time of the last one
 */
export async function openLoop(port, { path, due, connections }) {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const url = `http://127.0.0.1:${port}${path}`;
  /** @type {number[]} */
  const latencies = [];
  /** @type {Promise<void>[]} */
  const all = [];
  const start = performance.now();
  const send = async (/** @type {number} */ dueAt) => {
    await sendOk(url, { agent });
    latencies.push(performance.now() - start - dueAt);
  };
  for (let sent = 0; sent < due.length; ) {
    const now = performance.now() - start;
    for (; sent < due.length && due[sent] <= now; sent++) all.push(send(due[sent]));
    await sleep(1);
  }
  const answered = latencies.length;
  await Promise.all(all);
  agent.destroy();
  return { latencies, answered };
}

/** Arrivals of independent clients: the same ones each time. */
export function arrivals(/** @type {number} */ perSecond, /** @type {number} */ millis) {
  const random = generator();
  const due = [];
  for (let at = 0; at < millis; at += (-Math.log(1 - random()) * 1000) / perSecond) due.push(at);
  return due;
}

export async function startSink() {
  const server = createServer((request, response) => {
    request.resume().once('end', () => response.end('{}'));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return {
    url: `http://127.0.0.1:${port}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
