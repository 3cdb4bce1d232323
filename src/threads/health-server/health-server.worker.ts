/**
 * The health server's thread: answers health checks while the main thread is blocked. Bundled into
 * a string at build time, as the watchdog thread is.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { now, setTimeout } from '../../support/time.ts';
import { createHealthHttpServer } from './http-server.ts';
import { createLivez } from './livez.ts';
import type { HealthServerData, HealthServerFailure } from './protocol.ts';

/**
 * The port may still be that of the thread, or the process, before this one. Neither needs the main
 * thread's event loop to let go of it. After this time it is said, and tried less often.
 */
const SAY_AFTER_MILLIS = 3000;
const RETRY_MILLIS = 50;
const LATER_RETRY_MILLIS = 1000;

// Nobody reads what Node.js prints here, and it would keep the thread alive that started this one.
process.removeAllListeners('warning');

const data = workerData as HealthServerData;
const { host, port } = data;
const server = createHealthHttpServer(createLivez(data));
const startedAt = now();
let isSaid = false;
const say = (failure: HealthServerFailure) => parentPort?.postMessage(failure);
// `exclusive`: otherwise the primary of a cluster would listen in its place.
const listen = () => server.listen({ port, host, exclusive: true });
server.on('error', ({ code, message }: NodeJS.ErrnoException) => {
  if (server.listening) return;
  if (code !== 'EADDRINUSE') {
    say({ isOff: true, reason: message });
    return;
  }
  const isLong = now() - startedAt > SAY_AFTER_MILLIS;
  setTimeout(listen, isLong ? LATER_RETRY_MILLIS : RETRY_MILLIS);
  if (!isLong || isSaid) return;
  isSaid = true;
  say({ isOff: false, reason: message });
});
listen();
