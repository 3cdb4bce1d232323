// A service in which some requests block the event loop, each in a way of its own, and the others
// wait for something else.
const { createServer } = require('node:http');
const { trace } = require('@opentelemetry/api');
const {
  EventLoopInstrumentation,
  EventLoopSpanProcessor,
} = require('opentelemetry-instrumentation-event-loop');
const { running } = require('../../support/thread-times.cjs');
const {
  block,
  eventLoopConfig,
  serve,
  startSdk,
  startTruth,
  wait,
  work,
} = require('./support/telemetry.cjs');

const sdk = startSdk({
  instrumentations: [new EventLoopInstrumentation(eventLoopConfig())],
  processors: [new EventLoopSpanProcessor()],
});
const express = require('express');
const tracer = trace.getTracer('service');

/** A request with a span of its own around what it does. */
const handle = (name, work) => async (request, response) => {
  await tracer.startActiveSpan(name, async (span) => {
    await work(Number(request.query.millis));
    span.end();
  });
  response.send('done');
};

let blocks = 0;
const nextLabel = () => `block ${++blocks}`;

const STEP_MILLIS = 0.2;

const app = express();
app.get(
  '/stalled',
  handle('query', (millis) => wait(millis)),
);
app.get(
  '/sync',
  handle('blocking', async (millis) => block(nextLabel(), millis)),
);
// In the phase of the loop that comes before the one in which connections are read.
app.get(
  '/timer',
  handle('blocking', async (millis) => {
    await wait(3);
    block(nextLabel(), millis);
  }),
);
app.get(
  '/awaits',
  handle('blocking', async (millis) => {
    const end = startTruth(nextLabel());
    for (const goesOn = running(millis); goesOn(); ) {
      work(STEP_MILLIS);
      await null;
    }
    end();
  }),
);

serve(createServer(app), sdk);
