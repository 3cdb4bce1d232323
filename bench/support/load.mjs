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
  let running = true;
  const url = `http://127.0.0.1:${port}${path}`;
  const connection = async () => {
    while (running) {
      await sendOk(url, { agent });
    }
  };
  const all = Promise.all(Array.from({ length: connections }, connection));
  return {
    async stop() {
      running = false;
      await all;
      agent.destroy();
    },
  };
}
