// Takes traces by OTLP over HTTP and forgets them: the place of a Tempo that this machine does not have.
import { once } from 'node:events';
import { createServer } from 'node:http';

/** @param {number} port */
export async function startOtlpSink(port) {
  const server = createServer((req, res) => {
    req.resume().once('end', () => res.writeHead(200, { 'content-type': 'application/x-protobuf' }).end());
  }).listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    async kill() {
      server.closeAllConnections();
      server.close();
    },
  };
}
