// An Express service with a health check, and a computation in five styles, some of which block the
// event loop.
const { createServer } = require('node:http');
const { running } = require('../../support/thread-times.cjs');
const telemetry = require('./support/telemetry.cjs');
const { serve, startInstrumented, startTruth, wait, work } = telemetry;

const { sdk } = startInstrumented({}, { stalls: process.argv.includes('stalls') });
const express = require('express');

const STEP_MILLIS = 0.2;

const computeStep = () => work(STEP_MILLIS);
async function computeStepAsync() {
  computeStep();
}

const app = express();
app.get('/healthcheck', (_request, response) => response.send('ok'));

/** Asks a dependency how it is, which takes its time. */
const DEPENDENCY_MILLIS = 40;
app.get('/readiness', async (_request, response) => {
  await wait(DEPENDENCY_MILLIS);
  response.send('ok');
});

app.get('/compute-sync', (request, response) => {
  const goesOn = running(Number(request.query.millis));
  const end = startTruth(`compute-sync ${request.query.millis}`);
  while (goesOn()) computeStep();
  end();
  response.send('done');
});

app.get('/compute-async', async (request, response) => {
  const goesOn = running(Number(request.query.millis));
  const end = startTruth(`compute-async ${request.query.millis}`);
  while (goesOn()) await computeStepAsync();
  end();
  response.send('done');
});

/** The same, each next step scheduled by one of Node's own functions. */
const computeWith = (name, schedule) => (request, response) => {
  // A loop that turns may wait.
  const waits = schedule !== process.nextTick;
  const untilMillis = performance.now() + Number(request.query.millis);
  const goesOn = waits
    ? () => performance.now() < untilMillis
    : running(Number(request.query.millis));
  const end = startTruth(`${name} ${request.query.millis}`, { waits });
  const step = () => {
    if (goesOn()) {
      computeStep();
      schedule(step);
    } else {
      end();
      response.send('done');
    }
  };
  step();
};
app.get('/compute-with-next-tick', computeWith('compute-with-next-tick', process.nextTick));
app.get('/compute-with-set-immediate', computeWith('compute-with-set-immediate', setImmediate));
app.get(
  '/compute-with-set-timeout',
  computeWith('compute-with-set-timeout', (step) => setTimeout(step, 0)),
);

serve(createServer(app), sdk);
