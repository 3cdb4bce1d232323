// Callbacks that do next to nothing, so many that they block the event loop: captures land in this
// package's own hooks, too.
const { EventLoopInstrumentation } = require('opentelemetry-instrumentation-event-loop');
const { eventLoopConfig, finish, startSdk, wait } = require('./support/telemetry.cjs');

const sdk = startSdk({
  instrumentations: [new EventLoopInstrumentation(eventLoopConfig({ thresholdMillis: 20 }))],
});

const BLOCKS = 10;
const BLOCK_MILLIS = 150;

function block() {
  const end = performance.now() + BLOCK_MILLIS;
  return new Promise((resolve) => {
    process.nextTick(function tinyCallback() {
      if (performance.now() < end) process.nextTick(tinyCallback);
      else resolve();
    });
  });
}

async function main() {
  await wait(200);
  for (let i = 0; i < BLOCKS; i++) {
    await block();
    await wait(30);
  }
  await finish(sdk);
}

main();
