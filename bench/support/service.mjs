// Promises: a small service as its users run it: NodeSDK, instrumented HTTP and Express, spans that
// are made and batched and then thrown away. Started by service-client.mjs: `node
// bench/support/service.mjs <subject>`, with an IPC channel.
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { setImmediate as nextIteration } from 'node:timers/promises';
import { ExpressInstrumentation } from '@opentelemetry/instrumentation-express';
import { HttpInstrumentation } from '@opentelemetry/instrumentation-http';
import { NodeSDK } from '@opentelemetry/sdk-node';
import { BatchSpanProcessor } from '@opentelemetry/sdk-trace';
import { SERVICE_SUBJECTS } from './service-subjects.mjs';

const EXPORT_SUCCEEDED = 0;
/** Names of PEER_SUBJECTS begin with it. */
const PEER = 'peer: ';
const ROWS = 20;

// Only the traces of this file: nothing is to be sent anywhere.
process.env.OTEL_METRICS_EXPORTER = 'none';
process.env.OTEL_LOGS_EXPORTER = 'none';

const {
  subject,
  instrumentations,
  spanProcessors = [],
  bringsSdk,
} = await prepare(process.argv[2]);
const exporter = {
  export: (/** @type {unknown} */ _spans, /** @type {(result: { code: number }) => void} */ done) =>
    done({ code: EXPORT_SUCCEEDED }),
  shutdown: async () => {},
};
if (!bringsSdk) {
  new NodeSDK({
    spanProcessors: [...spanProcessors, new BatchSpanProcessor({ exporter })],
    instrumentations: [
      new HttpInstrumentation(),
      new ExpressInstrumentation(),
      ...instrumentations,
    ],
  }).start();
}

/** What is weighed: one of ours can be turned on and off, a peer is at work from now on. */
async function prepare(/** @type {string} */ name) {
  if (name.startsWith(PEER)) {
    const { PEER_SUBJECTS } = await import('../peers/service-subjects.mjs');
    const { start, bringsSdk } = PEER_SUBJECTS[name.slice(PEER.length)];
    return { instrumentations: start() ?? [], bringsSdk };
  }
  const subject = await SERVICE_SUBJECTS[name]();
  const isInstrumentation = subject !== undefined && 'setTracerProvider' in subject;
  const spanProcessors = subject?.spanProcessors ?? [];
  return { subject, instrumentations: isInstrumentation ? [subject] : [], spanProcessors };
}

// Required, not imported: the instrumentations patch what is loaded after them.
const express = createRequire(import.meta.url)('express');
let requests = 0;

/** As from a database: a later iteration has the answer, and a few promises lie between. */
async function find(/** @type {number} */ id) {
  await nextIteration();
  return Array.from({ length: ROWS }, (_, i) => ({ id: id + i, name: `item ${id + i}` }));
}

const app = express();
app.use((_request, response, next) => {
  response.setHeader('cache-control', 'no-store');
  next();
});
app.get('/items/:id', async (request, response) => {
  requests++;
  response.json(await find(Number(request.params.id)));
});
const server = app.listen(0, '127.0.0.1');
await once(server, 'listening');

process.on('message', (message) => {
  if (message === 'on') subject?.enable();
  if (message === 'off') subject?.disable();
  const { user, system } = process.cpuUsage();
  process.send({
    at: performance.now(),
    cpu: user + system,
    rss: process.memoryUsage.rss(),
    requests,
  });
});
process.on('disconnect', () => process.exit());
process.send(server.address().port);
