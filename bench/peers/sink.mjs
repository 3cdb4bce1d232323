// Guarantees: takes everything that a tool sends to its agent, on loopback, and keeps none of it.
import { once } from 'node:events';
import { createServer } from 'node:http';

/**
 * @returns {Promise<{ env: Record<string, string>, close(): void }>} `env` sends it here
 */
export async function startSink() {
  const server = createServer((request, response) => {
    request.resume().once('end', () => response.end('{}'));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return {
    env: { DD_TRACE_AGENT_URL: `http://127.0.0.1:${port}` },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
