// A process in which nothing happens for long, and then something blocks; several times.
const { setImmediate: nextIteration } = require('node:timers/promises');
const telemetry = require('./support/telemetry.cjs');
const { block, main, note, readRunDelays, startInstrumented, wait } = telemetry;

const BLOCKS = 5;
const BLOCK_MILLIS = 150;
const REST_MILLIS = 700;
const WINDOWS = 3;

const { sdk } = startInstrumented();

/** Of all threads: one goes to sleep, and is woken up. */
const sleeps = () => process.resourceUsage().voluntaryContextSwitches;

async function wakeUpsPerSecond() {
  const before = { sleeps: sleeps(), at: performance.now() };
  await wait(REST_MILLIS);
  return ((sleeps() - before.sleeps) * 1000) / (performance.now() - before.at);
}

main(sdk, async () => {
  await wait(REST_MILLIS);
  const rates = [];
  for (let i = 0; i < WINDOWS; i++) rates.push(await wakeUpsPerSecond());
  // A garbage collection wakes V8's threads in one of them; what this package does, in all.
  note('wake-ups per second', Math.min(...rates));
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
});
