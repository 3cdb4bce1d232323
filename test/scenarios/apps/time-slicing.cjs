// A recursive walk that gives the event loop a turn whenever it has had it for SLICE_MILLIS.
const { running } = require('../../support/thread-times.cjs');
const telemetry = require('./support/telemetry.cjs');
const { alone, finish, inSpan, startInstrumented, startTruth, wait, work } = telemetry;

const { sdk } = startInstrumented({ thresholdMillis: Number(process.env.THRESHOLD_MILLIS) });

const SLICE_MILLIS = Number(process.env.SLICE_MILLIS);
const SLICES = 10;

let slices = 0;
let goesOn = () => true;
let endSlice = () => {};

function startSlice() {
  goesOn = running(SLICE_MILLIS);
  endSlice = startTruth(`slice ${slices}`);
}

async function walk(depth) {
  work(0.2);
  if (!goesOn()) {
    endSlice();
    await new Promise((resolve) => setImmediate(resolve));
    if (++slices < SLICES) startSlice();
  }
  for (let child = 0; child < 4 && depth > 0 && slices < SLICES; child++) await walk(depth - 1);
}

/**
 * The thread that captures is started once the loop turns, and takes some 50 ms to start, on a busy
 * machine more.
 */
const WATCHDOG_START_MILLIS = 300;

wait(WATCHDOG_START_MILLIS)
  .then(() =>
    alone(() =>
      inSpan('walk', async () => {
        startSlice();
        while (slices < SLICES) await walk(6);
      }),
    ),
  )
  .then(() => finish(sdk));
