// Guarantees: a small service as its users run it: NodeSDK, instrumented HTTP and Express, spans
// that are made and batched and then thrown away. Started by service-client.mjs: `node
// bench/support/service.mjs <subject>`, with an IPC channel.
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { ExpressInstrumentation } from '@opentelemetry/instrumentation-express';
import { HttpInstrumentation } from '@opentelemetry/instrumentation-http';
import { NodeSDK } from '@opentelemetry/sdk-node';
import { BatchSpanProcessor } from '@opentelemetry/sdk-trace';
import { PEER_SUBJECTS } from '../peers/service-subjects.mjs';

const EXPORT_SUCCEEDED = 0;
/** Some 25 µs. */
const ROUNDS = 10_000;

// Only the traces of this file: nothing is to be sent anywhere.
process.env.OTEL_METRICS_EXPORTER = 'none';
process.env.OTEL_LOGS_EXPORTER = 'none';

const { start, bringsSdk, spanProcessors = () => [] } = PEER_SUBJECTS[process.argv[2]];
/** What is weighed. It is at work from now on. */
const instrumentations = start() ?? [];
const exporter = {
  export: (/** @type {unknown} */ _spans, /** @type {(result: { code: number }) => void} */ done) =>
    done({ code: EXPORT_SUCCEEDED }),
  shutdown: async () => {},
};
if (!bringsSdk) {
  new NodeSDK({
    spanProcessors: [...spanProcessors(), new BatchSpanProcessor({ exporter })],
    instrumentations: [
      new HttpInstrumentation(),
      new ExpressInstrumentation(),
      ...instrumentations,
    ],
  }).start();
}

// Required, not imported: the instrumentations patch what is loaded after them.
const express = createRequire(import.meta.url)('express');
let requests = 0;

const app = express();
app.use((_request, response, next) => {
  response.setHeader('cache-control', 'no-store');
  next();
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
const server = app.listen(0, '127.0.0.1');
await once(server, 'listening');

process.on('message', () => {
  const { user, system } = process.cpuUsage();
  const { active, idle } = performance.eventLoopUtilization();
  process.send({
    at: performance.now(),
    cpu: user + system,
    rss: process.memoryUsage.rss(),
    active,
    idle,
    requests,
  });
});
process.on('disconnect', () => process.exit());
process.send(server.address().port);
