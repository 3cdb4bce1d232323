// An OTLP/HTTP JSON receiver on a loopback port: keeps what it gets, and reads it only when asked, so that it takes
// no time from a process that measures latencies.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';

/**
 * @param {{ onTraces?: (request: object) => void, port?: number }} [options] `onTraces` is called with each trace request as
 *   it comes; any free port, if none is given
 * @returns {Promise<{ url: string, traces(): object[], metrics(): object[], close(): void }>}
 */
export async function startOtlpReceiver({ onTraces, port = 0 } = {}) {
  const received = { '/v1/traces': [], '/v1/metrics': [], '/v1/logs': [] };

  const server = createServer(async (req, res) => {
    const bodies = received[req.url];
    if (!bodies) return res.writeHead(404).end();
    try {
      const body = await buffer(req);
      bodies.push(body);
      res.writeHead(200, { 'content-type': 'application/json' }).end('{}');
      if (req.url === '/v1/traces') onTraces?.(JSON.parse(body));
    } catch (error) {
      res.destroy(error);
    }
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');

  return {
    url: `http://127.0.0.1:${server.address().port}`,
    traces: () => received['/v1/traces'].map((body) => JSON.parse(body)),
    metrics: () => received['/v1/metrics'].map((body) => JSON.parse(body)),
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
