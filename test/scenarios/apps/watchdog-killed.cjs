// The watchdog thread is ended, again and again.
const { once } = require('node:events');
const workerThreads = require('node:worker_threads');

// Before the package is loaded: to get its thread.
const threads = [];
workerThreads.Worker = class extends workerThreads.Worker {
  constructor(...args) {
    super(...args);
    if (args[1].name === 'event-loop-watchdog') threads.push(this);
  }
};

const { running } = require('../../support/thread-times.cjs');
const telemetry = require('./support/telemetry.cjs');
const { alone, blockInSpan, inSpan, main, startInstrumented, startTruth, truthOf, wait, work } =
  telemetry;

const { sdk } = startInstrumented();
const WARM_UP_MILLIS = 200;
const DEATHS = 4;
const LOOP_RESTS_MILLIS = 1000;
const neverNotified = new Int32Array(new SharedArrayBuffer(4));

/** Waits until there is a thread of this number, and has begun to watch. */
async function thread(n) {
  while (threads.length <= n) await wait(10);
  await wait(WARM_UP_MILLIS);
  return threads[n];
}

const blockIn = (label) => alone(() => blockInSpan(label, 200));

main(sdk, async () => {
  await thread(0);
  await blockIn('before');
  for (let i = 0; i < DEATHS; i++) {
    const current = await thread(i);
    if (i === 1) await blockIn('after the first death');
    const exited = once(current, 'exit');
    current.terminate();
    await exited;
  }
  await wait(WARM_UP_MILLIS);
  await blockIn('after the last death');
  // Uses no CPU, as a suspended process.
  await wait(LOOP_RESTS_MILLIS);
  await alone(() =>
    inSpan('waits after the last death', () => {
      truthOf('waits after the last death', () => Atomics.wait(neverNotified, 0, 0, 200), {
        waits: true,
      });
    }),
  );
  await alone(() =>
    inSpan('await after the last death', async () => {
      await null;
      const end = startTruth('await after the last death');
      for (const goesOn = running(200); goesOn(); ) await work(1);
      end();
    }),
  );
});
