// A process in which nothing happens for long, and then something blocks; several times.
const { setImmediate: nextIteration } = require('node:timers/promises');
const { EventLoopInstrumentation } = require('opentelemetry-instrumentation-event-loop');
const telemetry = require('./support/telemetry.cjs');
const { block, eventLoopConfig, finish, note, readRunDelays, startSdk, wait } = telemetry;

const BLOCKS = 5;
const BLOCK_MILLIS = 150;
const REST_MILLIS = 700;

const sdk = startSdk({ instrumentations: [new EventLoopInstrumentation(eventLoopConfig())] });

/** Of all threads: one goes to sleep, and is woken up. */
const sleeps = () => process.resourceUsage().voluntaryContextSwitches;

async function main() {
  await wait(REST_MILLIS);
  const before = { sleeps: sleeps(), at: performance.now() };
  await wait(REST_MILLIS);
  note(
    'wake-ups per second',
    ((sleeps() - before.sleeps) * 1000) / (performance.now() - before.at),
  );
  for (let i = 0; i < BLOCKS; i++) {
    // Not a multiple of the beats' distance.
    await wait(REST_MILLIS + i * 17);
    readRunDelays();
    await new Promise((resolve) =>
      setImmediate(() => {
        block(`block ${i}`, BLOCK_MILLIS);
        resolve();
      }),
    );
    await nextIteration();
    readRunDelays();
  }
  note('millis', performance.now());
  await finish(sdk);
}

main();
