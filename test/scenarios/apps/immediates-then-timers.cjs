// Two immediates, then three timers, in one iteration of the loop: together they block it. In
// between, the tick and the lag timer of the package come.
const { trace } = require('@opentelemetry/api');
const { running } = require('../../support/thread-times.cjs');
const { alone, main, startInstrumented, startTruth } = require('./support/telemetry.cjs');

// Two of them are shorter than the threshold, also if another process gets a slice of the CPU.
const PART_MILLIS = 40;
const CALLBACKS = 5;

const { sdk } = startInstrumented();

/** @param {() => void} resolve */
function start(resolve) {
  trace.getTracer('callbacks').startActiveSpan('callbacks', (span) => {
    let left = CALLBACKS;
    let end;
    const part = () => {
      end ??= startTruth('callbacks');
      for (const goesOn = running(PART_MILLIS); goesOn(); );
      if (--left > 0) return;
      end();
      span.end();
      resolve();
    };
    for (let i = 0; i < 3; i++) setTimeout(part, 1);
    for (let i = 0; i < 2; i++) setImmediate(part);
  });
}

main(sdk, async () => {
  await alone(() => new Promise((resolve) => setTimeout(start, 1, resolve)));
});
