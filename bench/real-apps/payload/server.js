// Payload's REST API without Next.js.
import { createServer } from 'node:http';
import { Readable } from 'node:stream';
import { getPayload, handleEndpoints } from 'payload';
import config from './payload.config.js';

await getPayload({ config });
const took = new Map();

/** It waits, and does next to nothing. */
async function answer(incoming, outgoing) {
  const { method, url, headers } = incoming;
  const from = performance.now();
  const response = await handleEndpoints({
    config,
    request: new Request(`http://localhost${url}`, {
      method,
      headers,
      ...(method === 'POST' && { body: Readable.toWeb(incoming), duplex: 'half' }),
    }),
  });
  took.set(url, performance.now() - from);
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  outgoing.end(Buffer.from(await response.arrayBuffer()));
}

const server = createServer(answer);
server.listen(Number(process.env.PORT), '127.0.0.1');
process.on('SIGTERM', () => {
  server.close(() => process.exit());
  server.closeAllConnections();
});
