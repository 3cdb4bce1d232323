// Callbacks that do next to nothing, so many that they block the event loop: captures land in this
// package's own hooks, too.
const { threadTimes } = require('../../support/thread-times.cjs');
const { main, startInstrumented, wait } = require('./support/telemetry.cjs');

const { sdk } = startInstrumented({ thresholdMillis: 20 });

const BLOCKS = 10;
const BLOCK_MILLIS = 150;
/** Asked more often how long it has run, the thread would be seen doing that. */
const MIN_MORE_MILLIS = 4;

const cpuMillis = () => threadTimes()?.cpuMillis;

/**
 * Until the thread has run for so long: no function of its own says so, which might be named
 * instead.
 */
function block() {
  const ranBefore = cpuMillis();
  let end = performance.now() + BLOCK_MILLIS;
  return new Promise((resolve) => {
    process.nextTick(function tinyCallback() {
      if (performance.now() < end) return process.nextTick(tinyCallback);
      const lacking = BLOCK_MILLIS - (cpuMillis() - ranBefore);
      if (!(lacking > 0)) return resolve();
      end = performance.now() + Math.max(lacking, MIN_MORE_MILLIS);
      process.nextTick(tinyCallback);
    });
  });
}

// Named: a stack sample may see it where it goes on.
main(sdk, async function main() {
  await wait(200);
  for (let i = 0; i < BLOCKS; i++) {
    await block();
    await wait(30);
  }
});
