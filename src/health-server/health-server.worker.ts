/**
 * The health server's thread: answers health checks while the main thread is blocked. Bundled into
 * a string at build time, as the watchdog thread is.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { createHealthHttpServer } from './http-server.ts';
import { createLivez } from './livez.ts';
import type { HealthServerData, HealthServerFailure } from './protocol.ts';

/**
 * The port may still be that of the thread, or the process, before this one. Neither needs the main
 * thread's event loop to let go of it.
 */
const RETRY_MILLIS = 50;
const MAX_RETRIES = 60;

// Nobody reads what Node.js prints here, and it would keep the thread alive that started this one.
process.removeAllListeners('warning');

const data = workerData as HealthServerData;
const server = createHealthHttpServer(createLivez(data));
let retries = 0;
// `exclusive`: otherwise the primary of a cluster would listen in its place.
const listen = () => server.listen({ port: data.port, host: data.host, exclusive: true });
server.on('error', ({ code, message }: NodeJS.ErrnoException) => {
  if (server.listening) return;
  if (code === 'EADDRINUSE' && retries++ < MAX_RETRIES) {
    setTimeout(listen, RETRY_MILLIS);
    return;
  }
  parentPort?.postMessage({ code, reason: message } satisfies HealthServerFailure);
});
listen();
