// So many async resources that one byte kept for each is seen. Run with --expose-gc.
const { EventLoopInstrumentation } = require('opentelemetry-instrumentation-event-loop');
const { eventLoopConfig, main, note, startSdk } = require('./support/telemetry.cjs');

const config = eventLoopConfig({ thresholdMillis: 60_000 });
const sdk = startSdk({ instrumentations: [new EventLoopInstrumentation(config)] });

const ROUND = 100_000;
const ROUNDS = 30;

const repeat = (times, schedule) =>
  new Promise((resolve) => {
    let left = times;
    const step = () => (--left > 0 ? schedule(step) : resolve());
    schedule(step);
  });

/** 100 000 async resources: promises for the most part, as in life. */
async function round() {
  for (let i = 0; i < ROUND * 0.9; i++) await null;
  await repeat(ROUND * 0.05, setImmediate);
  await repeat(ROUND * 0.05, process.nextTick);
}

function heapUsed() {
  global.gc();
  global.gc();
  return process.memoryUsage().heapUsed;
}

main(sdk, async () => {
  for (let i = 0; i < 3; i++) await round();
  const before = heapUsed();
  for (let i = 0; i < ROUNDS; i++) await round();
  note('resources', ROUND * ROUNDS);
  note('heap growth', heapUsed() - before);
});
