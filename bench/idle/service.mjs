// Guarantees: a small service as its users run it: NodeSDK, instrumented HTTP and Express, spans
// that are made and batched and then thrown away. `node bench/idle/service.mjs <subject>`, with an
// IPC channel: it answers each message with what it has used so far.
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { ExpressInstrumentation } from '@opentelemetry/instrumentation-express';
import { HttpInstrumentation } from '@opentelemetry/instrumentation-http';
import { NodeSDK } from '@opentelemetry/sdk-node';
import { BatchSpanProcessor } from '@opentelemetry/sdk-trace';

const EXPORT_SUCCEEDED = 0;
const require = createRequire(import.meta.url);

// Only the traces of this file: nothing is to be sent anywhere.
process.env.OTEL_METRICS_EXPORTER = 'none';
process.env.OTEL_LOGS_EXPORTER = 'none';

function ownInstrumentation(/** @type {object} */ config) {
  const { EventLoopInstrumentation } = require('opentelemetry-instrumentation-event-loop');
  return [new EventLoopInstrumentation({ thresholdMillis: 100, ...config })];
}

/** @type {Record<string, () => object[]>} */
const SUBJECTS = {
  nothing: () => [],
  'a 20 ms timer': () => {
    setInterval(() => {}, 20).unref();
    return [];
  },
  'this package': () => ownInstrumentation({}),
  'this package, captureStack: false': () => ownInstrumentation({ captureStack: false }),
};

/** What is weighed. It is at work from now on. */
const instrumentations = SUBJECTS[process.argv[2]]();
const exporter = {
  export: (/** @type {unknown} */ _spans, /** @type {(result: { code: number }) => void} */ done) =>
    done({ code: EXPORT_SUCCEEDED }),
  shutdown: async () => {},
};
new NodeSDK({
  spanProcessors: [new BatchSpanProcessor({ exporter })],
  instrumentations: [new HttpInstrumentation(), new ExpressInstrumentation(), ...instrumentations],
}).start();

// Required, not imported: the instrumentations patch what is loaded after them.
const server = require('express')().listen(0, '127.0.0.1');
await once(server, 'listening');

process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send({ at: performance.now(), cpu: user + system, rss: process.memoryUsage.rss() });
});
process.on('disconnect', () => process.exit());
process.send('listening');
