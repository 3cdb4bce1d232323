// A service in which some requests block the event loop, each in a way of its own, and the others
// wait for something else.
const { createServer } = require('node:http');
const { running } = require('../../support/thread-times.cjs');
const telemetry = require('./support/telemetry.cjs');
const { block, inSpan, serve, startInstrumented, startTruth, wait, work } = telemetry;

const { sdk } = startInstrumented({}, { stalls: true });
const express = require('express');

/** A request with a span of its own around what it does. */
const handle = (name, work) => async (request, response) => {
  await inSpan(name, async () => {
    await work(Number(request.query.millis));
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
