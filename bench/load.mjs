// Promises: a constant load: so many keep-alive connections, each with one request under way at any time.
import { Agent, get } from 'node:http';

/**
 * @param {number} port
 * @param {{ connections: number, path: string }} options
 */
export function startLoad(port, { connections, path }) {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  /** @type {number[]} */
  let latencies = [];
  let running = true;
  const request = () =>
    new Promise((resolve, reject) => {
      get({ port, host: '127.0.0.1', path, agent }, (response) => response.resume().on('end', resolve)).on(
        'error',
        reject,
      );
    });
  const connection = async () => {
    while (running) {
      const start = performance.now();
      await request();
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
