// Guarantees: the load, in a process of its own: keep-alive connections, each with one request
// under way at any time, until so many requests or milliseconds are over. Takes what the services
// export.
import { once } from 'node:events';
import { Agent, createServer } from 'node:http';
import { sendOk } from '../../tools/http-client.cjs';
import { quantile } from '../../tools/statistics.cjs';

const [connections = 16] = process.argv.slice(2).map(Number);

/** A collector that takes everything. */
const sink = createServer((request, response) => {
  request.resume().on('end', () => response.end());
});
sink.listen(0, '127.0.0.1');
await once(sink, 'listening');

/** @typedef {{ port: number, requests?: number, millis?: number }} Order */

process.on('message', async (/** @type {Order} */ order) => process.send(await load(order)));
process.on('disconnect', () => process.exit());
process.send(sink.address().port);

async function load(
  /** @type {Order} */ {
    port,
    requests = Number.POSITIVE_INFINITY,
    millis = Number.POSITIVE_INFINITY,
  },
) {
  const agent = agentOf(port);
  const url = `http://127.0.0.1:${port}/items/7`;
  /** @type {number[]} */
  const latencies = [];
  const end = performance.now() + millis;
  let sent = 0;
  const connection = async () => {
    while (sent < requests && performance.now() < end) {
      sent++;
      const start = performance.now();
      await sendOk(url, { agent });
      latencies.push(performance.now() - start);
    }
  };
  await Promise.all(Array.from({ length: connections }, connection));
  return {
    requests: sent,
    p50: quantile(latencies, 0.5),
    p99: quantile(latencies, 0.99),
  };
}

/** @type {Map<number, Agent>} */
const agents = new Map();

/** One for each service, whose connections stay open between two loads. */
function agentOf(/** @type {number} */ port) {
  const agent = agents.get(port) ?? new Agent({ keepAlive: true, maxSockets: connections });
  agents.set(port, agent);
  return agent;
}
