// Recursion that catches its own RangeError, and then blocks near the end of the stack: each time
// some more frames below it.
const { EventLoopInstrumentation } = require('opentelemetry-instrumentation-event-loop');
const {
  alone,
  eventLoopConfig,
  finish,
  note,
  ready,
  startSdk,
  wait,
} = require('./support/telemetry.cjs');

/** The request for a stack sample takes more than 10 frames of this function, and up to 130. */
const MAX_FRAMES_BELOW = 160;
const STEP = 2;
const ENOUGH_FRAMES_BELOW = 2000;

// All in one: the sampled code has no stack for another function.
let blockMillis = 20;
let framesBelow = 0;
let unwound = 0;
let blocked = 0;
let mixed = 1;
function recur() {
  try {
    recur();
  } catch {}
  if (unwound++ === framesBelow) {
    const end = Date.now() + blockMillis;
    // V8 13 and later do not interrupt a loop that only calls built-ins.
    while (Date.now() < end) for (let i = 0; i < 1000; i++) mixed = Math.imul(mixed ^ i, 31);
    blocked++;
  }
}

async function main() {
  const instrumentation = new EventLoopInstrumentation(
    eventLoopConfig({ thresholdMillis: 10, maxSpansPerMinute: 1000 }),
  );
  const sdk = startSdk({ instrumentations: [instrumentation] });
  await ready(instrumentation);
  for (framesBelow = 10; framesBelow <= MAX_FRAMES_BELOW; framesBelow += STEP) {
    unwound = 0;
    recur();
    await wait(1);
  }
  unwound = 0;
  framesBelow = ENOUGH_FRAMES_BELOW;
  blockMillis = 60;
  await alone(recur);
  note('blocked', blocked);
  await finish(sdk);
}

main();
