// Promises: what Sentry's SDK sends about blocks, as reports; it runs in the process that asks, not in the one that blocks.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';

const BLOCK = 'EventLoopBlocked';
const NAMELESS = new Set(['?', '<anonymous>', '[eval]', '[constructor]']);

export async function startReceiver() {
  /** @type {import('./score.mjs').Report[]} */
  const reports = [];
  const server = createServer(async (request, response) => {
    const body = await buffer(request);
    const text = (request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body).toString();
    for (const line of text.split('\n')) {
      if (!line.includes(BLOCK)) continue;
      const event = JSON.parse(line);
      const exception = event.exception?.values?.find((/** @type {any} */ { type }) => type === BLOCK);
      if (exception === undefined) continue;
      reports.push({
        at: performance.timeOrigin + performance.now(),
        functionName: innermost(exception.stacktrace?.frames ?? []),
        traceId: event.contexts?.trace?.trace_id,
      });
    }
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return {
    dsn: `http://public@127.0.0.1:${port}/1`,
    reports,
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Sentry has the innermost frame last. What has no name is called after the function around it, as a reader would. */
function innermost(/** @type {any[]} */ frames) {
  const own = frames
    .filter(({ filename = '' }) => !filename.startsWith('node:'))
    .map((frame) => frame.function);
  return own.findLast((name) => name !== undefined && !NAMELESS.has(name)) ?? own.at(-1);
}
