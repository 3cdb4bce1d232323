// A service that parses the bodies of its requests: neither the parsing nor the handler reaches the
// threshold by far, and both run in one callback.
const { createServer } = require('node:http');
const {
  EventLoopInstrumentation,
  EventLoopSpanProcessor,
} = require('opentelemetry-instrumentation-event-loop');
const {
  eventLoopConfig,
  serve,
  startSdk,
  startTruth,
  wait,
  work,
} = require('./support/telemetry.cjs');

const PARSE_MILLIS = 80;
const HANDLER_MILLIS = 70;

// Without the processor the spans around a span are known from what ran only.
const hasProcessor = process.argv[2] !== 'alone';
const sdk = startSdk({
  instrumentations: [new EventLoopInstrumentation(eventLoopConfig())],
  processors: hasProcessor ? [new EventLoopSpanProcessor()] : [],
});
const express = require('express');

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
app.get('/stalled', async (_request, response) => {
  await wait(300);
  response.send('done');
});

serve(createServer(app), sdk);
