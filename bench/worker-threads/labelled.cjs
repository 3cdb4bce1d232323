// @ts-nocheck: run by hand.
/**
 * The labelled blockers in a worker thread, or on the main thread, each in a callback of its own.
 * Prints, as JSON, what each was to be named and what its block was attributed to.
 *
 *   node labelled.cjs main|worker idle|busy
 */
const { subscribe } = require('node:diagnostics_channel');
const { setTimeout: sleep } = require('node:timers/promises');
const { isMainThread, parentPort, Worker } = require('node:worker_threads');

const [, , place = 'worker', mainThread = 'idle'] = process.argv;
const THRESHOLD_MILLIS = 40;
/** The main thread runs for so long, and then waits for as long. */
const BUSY_MILLIS = 10;

/** Half of the time, in parts that are no block. */
function keepBusy() {
  setInterval(() => {
    for (const until = performance.now() + BUSY_MILLIS; performance.now() < until; );
  }, 2 * BUSY_MILLIS);
}

async function measure() {
  const { argumentOf, blockers, calibrate, cleanUp } = require('../../tools/labelled-blockers.cjs');
  const { EventLoopInstrumentation } = require('opentelemetry-instrumentation-event-loop');
  const inputs = Object.entries(blockers).map(([name, each]) => [name, each, calibrate(each)]);
  const keepAlive = setInterval(() => {}, 1000);
  const eventLoop = new EventLoopInstrumentation({ thresholdMillis: THRESHOLD_MILLIS });
  const found = [];
  subscribe('opentelemetry-instrumentation-event-loop:block', ({ block }) => found.push(block));
  await eventLoop.ready();
  const results = [];
  for (const [label, { blockingFunction, run }, input] of inputs) {
    await sleep(60);
    found.length = 0;
    await new Promise((done) =>
      setTimeout(() => Promise.resolve(run(argumentOf(input))).then(done), 1),
    );
    await sleep(20);
    await eventLoop.forceFlush();
    const [block] = [...found].sort((a, b) => b.durationMillis - a.durationMillis);
    results.push({
      label,
      wanted: blockingFunction.name,
      named: block?.code?.functionName,
      samples: block?.samples,
      millis: block?.durationMillis,
    });
  }
  cleanUp();
  eventLoop.disable();
  clearInterval(keepAlive);
  return results;
}

const print = (results) => process.stdout.write(JSON.stringify(results), () => process.exit());
if (!isMainThread) measure().then((results) => parentPort.postMessage(results));
else if (place === 'main') measure().then(print);
else {
  if (mainThread === 'busy') keepBusy();
  new Worker(__filename, { argv: [place, mainThread] }).once('message', print);
}
