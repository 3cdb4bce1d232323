// Guarantees: requests are sent when they are due, whether earlier ones are answered or not, and
// each latency counts from the time at which its request was due: no coordinated omission.
import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { sendOk } from '../../tools/http-client.cjs';
import { generator } from '../../tools/statistics.cjs';

/**
 * @param {number} port
 * @param {object} options
 * @param {string} options.path
 * @param {number[]} options.due milliseconds from the start, ascending
 * @param {number} options.connections most connections; requests that are due wait for one
 * @returns {Promise<{ latencies: number[], answered: number, open: number[] }>} when all have been
 *   answered: their latencies, how many were answered by the time of the last one, and how many
 *   were open whenever some were sent
 */
export async function openLoop(port, { path, due, connections }) {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const url = `http://127.0.0.1:${port}${path}`;
  /** @type {number[]} */
  const latencies = [];
  /** @type {number[]} */
  const open = [];
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
    open.push(all.length - latencies.length);
    await sleep(1);
  }
  const answered = latencies.length;
  await Promise.all(all);
  agent.destroy();
  return { latencies, answered, open };
}

/** Arrivals of independent clients: the same ones each time. */
export function arrivals(/** @type {number} */ perSecond, /** @type {number} */ millis) {
  const random = generator();
  const due = [];
  for (let at = 0; at < millis; at += (-Math.log(1 - random()) * 1000) / perSecond) due.push(at);
  return due;
}
