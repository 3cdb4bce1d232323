// Labelled blockers of every kind, each alone in a span of its name. The attribute
// `blockingFunction` is the function that has to be named.
const { trace } = require('@opentelemetry/api');
const {
  argumentOf,
  BLOCK_MILLIS,
  blockers,
  calibrate,
  cleanUp,
} = require('../../../tools/labelled-blockers.cjs');
const { threadTimes, unstarvedMillis } = require('../../support/thread-times.cjs');
const { alone, main, startInstrumented, startTruth } = require('./support/telemetry.cjs');

const THRESHOLD_MILLIS = 40;

/** All of them, the n-th of m parts (`1/3`), or these (`loop,method`). */
function choose(argument = '1/1') {
  const part = /^(\d+)\/(\d+)$/.exec(argument);
  return Object.entries(blockers).filter(([name], i) =>
    part ? i % Number(part[2]) === Number(part[1]) - 1 : argument.split(',').includes(name),
  );
}

const chosen = choose(process.argv[2]);
const inputs = chosen.map(([name, blocker]) => [
  name,
  blocker,
  calibrate(blocker, unstarvedMillis),
]);
const { sdk } = startInstrumented({ thresholdMillis: THRESHOLD_MILLIS });
const tracer = trace.getTracer('blockers');

/** So often is it tried to block with a CPU, each time for twice as long. */
const MAX_TRIES = 5;
/** Of `BLOCK_MILLIS`: what the thread has to have run, so that a block is one. */
const MIN_RAN = 0.6;
/** It waits, and runs next to nothing. */
const WAITING = 'execFileSync';

/** @returns whether the thread ran for long enough: only then does the span say who blocked */
async function blockOnce([name, blocker, input], factor, isLast) {
  const { blockingFunction, run, asynchronous = false } = blocker;
  let hasRun = true;
  await alone(() =>
    tracer.startActiveSpan(name, async (span) => {
      const before = threadTimes();
      const end = startTruth(name, { waits: name === WAITING });
      const running = run(argumentOf(input, factor));
      if (asynchronous) await running;
      const ranMillis = threadTimes()?.cpuMillis - before?.cpuMillis;
      hasRun = isLast || name === WAITING || !(ranMillis < MIN_RAN * BLOCK_MILLIS);
      if (hasRun) span.setAttribute('blockingFunction', blockingFunction.name);
      end(hasRun ? name : `${name}, without a CPU`);
      span.end();
    }),
  );
  return hasRun;
}

main(sdk, async () => {
  for (const input of inputs) {
    for (let i = 0; i < MAX_TRIES; i++)
      if (await blockOnce(input, 2 ** i, i === MAX_TRIES - 1)) break;
  }
  cleanUp();
});
