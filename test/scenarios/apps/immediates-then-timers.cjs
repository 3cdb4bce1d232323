// Two immediates, then three timers, in one iteration of the loop: together they block it. In
// between, the tick and the lag timer of the package come.
const { trace } = require('@opentelemetry/api');
const { EventLoopInstrumentation } = require('opentelemetry-instrumentation-event-loop');
const { running } = require('../../support/thread-times.cjs');
const telemetry = require('./support/telemetry.cjs');
const { alone, eventLoopConfig, finish, startSdk, startTruth } = telemetry;

const PART_MILLIS = 45;
const CALLBACKS = 5;

const sdk = startSdk({ instrumentations: [new EventLoopInstrumentation(eventLoopConfig())] });

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

async function main() {
  await alone(() => new Promise((resolve) => setTimeout(start, 1, resolve)));
  await finish(sdk);
}

main();
