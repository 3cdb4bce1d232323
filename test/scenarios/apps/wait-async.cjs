// What another thread wakes up runs without a callback of async_hooks around it.
const { setImmediate: nextIteration } = require('node:timers/promises');
const { Worker } = require('node:worker_threads');
const { block, main, readRunDelays, startInstrumented, wait } = require('./support/telemetry.cjs');

const { sdk } = startInstrumented();

const BLOCKS = 3;
/** Longer than the watchdog thread takes to start. */
const REST_MILLIS = 300;
/** For the loop to wait each time, and not long enough to idle: then nothing would be sampled. */
const WAIT_MILLIS = 100;
const WAKER = `
const { workerData: { flag, millis } } = require('node:worker_threads');
const clock = new Int32Array(new SharedArrayBuffer(4));
for (;;) {
  Atomics.wait(flag, 0, 0);
  Atomics.wait(clock, 0, 0, millis);
  Atomics.store(flag, 0, 0);
  Atomics.notify(flag, 0);
}`;

main(sdk, async () => {
  const flag = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(WAKER, { eval: true, workerData: { flag, millis: WAIT_MILLIS } });
  await wait(REST_MILLIS);
  // The first stack sample of a process takes some milliseconds more.
  await nextIteration();
  block('warm-up', 150);
  await wait(50);
  for (let i = 0; i < BLOCKS; i++) {
    readRunDelays();
    // What runs before the loop waits is a part of the same busy period.
    await wait(20);
    Atomics.store(flag, 0, 1);
    Atomics.notify(flag, 0);
    await Atomics.waitAsync(flag, 0, 1).value;
    block(`block ${i}`, 150);
    await wait(50);
  }
  await worker.terminate();
});
