// Recursion that catches its own RangeError, and then blocks near the end of the stack: first with
// enough of it left, then each time with some more frames below it.
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
const STEP = 4;
const ENOUGH_FRAMES_BELOW = 2000;

// All in one: the sampled code has no stack for another function.
let blockMillis = 60;
let framesBelow = ENOUGH_FRAMES_BELOW;
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
  await alone(recur);
  blockMillis = 20;
  for (framesBelow = 10; framesBelow <= MAX_FRAMES_BELOW; framesBelow += STEP) {
    unwound = 0;
    recur();
    await wait(1);
  }
  note('blocked', blocked);
  await finish(sdk);
}

main();
