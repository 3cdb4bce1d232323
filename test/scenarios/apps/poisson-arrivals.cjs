// Arrivals at random (Poisson) moments from another thread, over an event loop that is blocked now
// and then: what they waited is the truth for the lag histogram.
const { Worker } = require('node:worker_threads');
const { endPhase, main, note, startInstrumented, wait, work } = require('./support/telemetry.cjs');

/** So many that chance moves a share of them by 0.5 points only (1.3 at 250). */
const ARRIVALS_PER_SECOND = 1000;
/**
 * Blocked and free times in milliseconds: no multiple of the lag interval, or the beats would walk
 * in step with them.
 */
const BLOCKS = [151, 1203, 149, 157, 153, 1199];
const FREE = [317, 211, 463, 389, 277, 431];

const { sdk } = startInstrumented();

/**
 * Sends what time it is, at random moments: sleeps without a loop, so that nothing is late but by
 * the system's timer.
 */
const arrivals = `
  const { parentPort, workerData } = require('node:worker_threads');
  const sleep = new Int32Array(new SharedArrayBuffer(4));
  let due = performance.timeOrigin + performance.now();
  for (;;) {
    due += -Math.log(1 - Math.random()) / workerData.rate * 1000;
    const early = due - (performance.timeOrigin + performance.now());
    if (early > 0) Atomics.wait(sleep, 0, 0, early);
    if (Atomics.load(workerData.stop, 0) === 1) break;
    parentPort.postMessage(performance.timeOrigin + performance.now());
  }
`;

main(sdk, async () => {
  await wait(100);
  const stop = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(arrivals, {
    eval: true,
    workerData: { rate: ARRIVALS_PER_SECOND, stop },
  });
  await new Promise((resolve) => worker.once('message', resolve));

  const waits = [];
  worker.on('message', (sent) => waits.push(performance.timeOrigin + performance.now() - sent));
  // Drops what the histogram gathered before the first arrival.
  await endPhase('before');
  for (const [i, length] of BLOCKS.entries()) {
    await wait(FREE[i % FREE.length]);
    work(length);
  }
  await wait(50);
  Atomics.store(stop, 0, 1);
  await new Promise((resolve) => worker.once('exit', resolve));
  note('waits', waits);
});
