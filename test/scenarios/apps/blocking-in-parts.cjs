// A service whose requests block the event loop in parts, each in a span of its own: none reaches
// the threshold alone.
const { createServer } = require('node:http');
const telemetry = require('./support/telemetry.cjs');
const { serve, startInstrumented, startTruth, wait, work } = telemetry;

const PARSE_MILLIS = 80;
const HANDLER_MILLIS = 70;
const STEPS = 5;
/**
 * Callbacks are told apart from the first stack sample on, at 50 ms, in the second step: two steps
 * stay below the threshold, with 16 ms for what Express and the SDK do around them, three do not.
 */
const STEP_MILLIS = 42;

// Without the processor the spans around a span are known from what ran only.
const hasProcessor = process.argv[2] !== 'alone';
const { sdk } = startInstrumented({}, { stalls: hasProcessor });
const express = require('express');
const { trace } = require('@opentelemetry/api');
const tracer = trace.getTracer('service');

const app = express();
let end = () => {};
app.use(
  express.json({
    verify() {
      end = startTruth('body and handler');
      work(PARSE_MILLIS);
    },
  }),
);
app.post('/orders', (_request, response) => {
  work(HANDLER_MILLIS);
  end();
  response.send('done');
});
// Steps of one request in one iteration, each in a span of its own.
app.get('/steps', async (_request, response) => {
  await wait(3);
  let steps = 0;
  const step = () =>
    new Promise((resolve) => {
      setImmediate(() => {
        tracer.startActiveSpan(`step ${++steps}`, (span) => {
          if (steps === 1) end = startTruth('steps');
          work(STEP_MILLIS);
          if (steps === STEPS) end();
          span.end();
          resolve();
        });
      });
    });
  await Promise.all(Array.from({ length: STEPS }, step));
  response.send('done');
});
app.get('/stalled', async (_request, response) => {
  await wait(300);
  response.send('done');
});

serve(createServer(app), sdk);
