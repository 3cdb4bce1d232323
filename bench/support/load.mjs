// Guarantees: a constant load: so many keep-alive connections, each with one request under way at
// any time.
import { Agent } from 'node:http';
import { sendOk } from '../../tools/http-client.cjs';

/**
 * @param {number} port
 * @param {{ connections: number, path: string }} options
 */
export function startLoad(port, { connections, path }) {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  /** @type {number[]} */
  let latencies = [];
  let running = true;
  const url = `http://127.0.0.1:${port}${path}`;
  const connection = async () => {
    while (running) {
      const start = performance.now();
      await sendOk(url, { agent });
      latencies.push(performance.now() - start);
    }
  };
  const all = Promise.all(Array.from({ length: connections }, connection));
  return {
    /** Latencies since the last time, in milliseconds. */
    take() {
      const taken = latencies;
      latencies = [];
      return taken;
    },
    async stop() {
      running = false;
      await all;
      agent.destroy();
    },
  };
}
