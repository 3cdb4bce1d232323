// Starts the server that a framework has built, and ends it. It knows nothing of OpenTelemetry.
import { channel } from 'node:diagnostics_channel';
import serve from './support/serve.cjs';

/** @param {string} file of the server, or of what serves the build */
export async function serveBuild(file) {
  process.env.NODE_ENV = 'production';
  process.env.HOST = '127.0.0.1';
  process.env.PORT = '0';
  const server = await new Promise((resolve, reject) => {
    channel('tracing:net.server.listen:asyncEnd').subscribe((message) => resolve(message.server));
    import(file).catch(reject);
  });
  await serve.serveUntilInputEnds(server.address().port, async () => {
    server.close();
    server.closeAllConnections();
  });
}
