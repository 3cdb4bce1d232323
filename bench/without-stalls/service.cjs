// A service with one route that blocks the event loop, unless it is told not to, and others that
// wait for as long as they are asked to. Prints the summary as JSON on stderr when it ends.
//
//   node service.cjs blocks|waits
const { createHash } = require('node:crypto');
const { createServer } = require('node:http');
const { performance } = require('node:perf_hooks');
const { setTimeout: sleep } = require('node:timers/promises');
const { context, trace } = require('@opentelemetry/api');
const { AsyncLocalStorageContextManager } = require('@opentelemetry/context-async-hooks');
const { registerInstrumentations } = require('@opentelemetry/instrumentation');
const { ExpressInstrumentation } = require('@opentelemetry/instrumentation-express');
const { HttpInstrumentation } = require('@opentelemetry/instrumentation-http');
const { TracerProvider } = require('@opentelemetry/sdk-trace');
const {
  EventLoopInstrumentation,
  EventLoopSpanProcessor,
} = require('opentelemetry-instrumentation-event-loop');

const blocks = process.argv[2] === 'blocks';
registerInstrumentations({
  instrumentations: [
    new HttpInstrumentation(),
    new ExpressInstrumentation(),
    new EventLoopInstrumentation({ thresholdMillis: 50, console: 'json' }),
  ],
});
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
trace.setGlobalTracerProvider(
  new TracerProvider({ spanProcessors: [new EventLoopSpanProcessor()] }),
);

function seededBlocker(/** @type {number} */ millis) {
  for (const end = performance.now() + millis; performance.now() < end; )
    createHash('sha256').update('row').digest('hex');
}

const express = require('express');
const app = express();
app.get('/blocker', async (/** @type {any} */ request, /** @type {any} */ response) => {
  const millis = Number(request.query.millis);
  if (blocks) seededBlocker(millis);
  else await sleep(millis);
  response.send('done');
});
app.get('/:route', async (/** @type {any} */ request, /** @type {any} */ response) => {
  await sleep(Number(request.query.millis));
  response.send('done');
});
app.get('/orders/:id', async (/** @type {any} */ request, /** @type {any} */ response) => {
  await sleep(Number(request.query.millis));
  response.send('done');
});
app.get('/users/:id/cart', async (/** @type {any} */ request, /** @type {any} */ response) => {
  await sleep(Number(request.query.millis));
  response.send('done');
});

// A connection that the server closes while a request is on its way is an error of the client.
const server = createServer({ keepAliveTimeout: 0 }, app);
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.send?.(typeof address === 'object' ? address?.port : undefined);
});
process.once('message', () => process.exit());
