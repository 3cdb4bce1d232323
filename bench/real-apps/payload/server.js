// Payload's REST API without Next.js.
import { serve } from '@hono/node-server';
import { getPayload, handleEndpoints } from 'payload';
import config from './payload.config.js';

await getPayload({ config });
const server = serve({
  port: Number(process.env.PORT),
  hostname: '127.0.0.1',
  overrideGlobalObjects: false,
  fetch: ({ url, method, headers, body }) =>
    handleEndpoints({
      config,
      request: new Request(url, { method, headers, body, duplex: 'half' }),
    }),
});
process.on('SIGTERM', () => {
  server.close(() => process.exit());
  server.closeAllConnections();
});
