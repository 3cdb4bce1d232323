// Guarantees: a closed loop: so many keep-alive connections, each with one request under way at any
// time. And a collector that takes everything and keeps nothing.
import { once } from 'node:events';
import { Agent, createServer } from 'node:http';
import { sendOk } from '../../tools/http-client.cjs';

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
