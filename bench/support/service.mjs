// Guarantees: a small service as its users run it: NodeSDK, instrumented HTTP and Express, spans
// that are made and batched and then thrown away. Started by service-client.mjs: `node
// bench/support/service.mjs <subject>`, with an IPC channel.
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { setImmediate as nextIteration, setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { trace } from '@opentelemetry/api';
import { ExpressInstrumentation } from '@opentelemetry/instrumentation-express';
import { HttpInstrumentation } from '@opentelemetry/instrumentation-http';
import { NodeSDK } from '@opentelemetry/sdk-node';
import { BatchSpanProcessor } from '@opentelemetry/sdk-trace';
import { SERVICE_SUBJECTS } from './service-subjects.mjs';

const EXPORT_SUCCEEDED = 0;
/** Names of PEER_SUBJECTS begin with it. */
const PEER = 'peer: ';
const ROWS = 20;
/** Some 25 µs. */
const ROUNDS = 10_000;
const BETWEEN_BLOCKS_MILLIS = 25;

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
    const { start, bringsSdk, spanProcessors } = PEER_SUBJECTS[name.slice(PEER.length)];
    return { instrumentations: start() ?? [], spanProcessors: spanProcessors?.(), bringsSdk };
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
/** The same computation each time: `units` of some 25 µs. */
function compute(/** @type {number} */ units) {
  let hash = 0;
  for (let i = 0; i < units * ROUNDS; i++) hash = (hash * 31 + i) | 0;
  return hash;
}
app.get('/compute/:units', (request, response) => {
  requests++;
  response.json({ hash: compute(Number(request.params.units)) });
});
/** Waits with a span of its own, as for a database, and then computes. */
app.get('/wait/:millis/compute/:units', async (request, response) => {
  const span = trace.getTracer('bench').startSpan('query');
  await sleep(Number(request.params.millis));
  span.end();
  requests++;
  response.json({ hash: compute(Number(request.params.units)) });
});
/** Blocks so often, each time for so long, and waits between. */
app.get('/block/:count/:millis', async (request, response) => {
  const [count, millis] = [Number(request.params.count), Number(request.params.millis)];
  for (let i = 0; i < count; i++) {
    await sleep(BETWEEN_BLOCKS_MILLIS);
    hold(millis);
  }
  response.json({});
});
function hold(/** @type {number} */ millis) {
  const end = performance.now() + millis;
  while (performance.now() < end) compute(1);
}
const server = app.listen(0, '127.0.0.1');
await once(server, 'listening');

function collectGarbage() {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
}

process.on('message', (message) => {
  if (message === 'on') subject?.enable();
  if (message === 'off') subject?.disable();
  if (message === 'collect') collectGarbage();
  const { user, system } = process.cpuUsage();
  const { active, idle } = performance.eventLoopUtilization();
  process.send({
    at: performance.now(),
    cpu: user + system,
    rss: process.memoryUsage.rss(),
    heap: process.memoryUsage().heapUsed,
    active,
    idle,
    requests,
  });
});
process.on('disconnect', () => process.exit());
process.send(server.address().port);
