/** Takes whatever is sent to a free loopback port, says yes to all of it, and keeps what was sent to some paths. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';

export async function startHttpReceiver(paths: RegExp) {
  const bodies: Buffer[] = [];
  const server = createServer(async (request, response) => {
    try {
      const body = await buffer(request);
      const isZipped = request.headers['content-encoding'] === 'gzip';
      if (paths.test(request.url ?? '')) bodies.push(isZipped ? gunzipSync(body) : body);
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    } catch (error) {
      response.destroy(error as Error);
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    bodies: () => bodies,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
