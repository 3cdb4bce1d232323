// Bursts of short callbacks that are due together, each of another trace, which is open for longer.
// The loop is not at rest before: hooks are on from the first stack sample of a burst on only.
const { setTimeout: sleep } = require('node:timers/promises');
const { context, ROOT_CONTEXT, trace } = require('@opentelemetry/api');
const { running } = require('../../support/thread-times.cjs');
const { main, startInstrumented } = require('./support/telemetry.cjs');

const BURSTS = 8;
const CALLBACKS = 36;
const CALLBACK_MILLIS = 3;
const BUSY_MILLIS = 8;

const { eventLoop: instrumentation, sdk } = startInstrumented();

function work(millis) {
  for (const goesOn = running(millis); goesOn(); );
}

function burst() {
  for (let i = 0; i < CALLBACKS; i++) {
    const span = trace.getTracer('bursts').startSpan(`request ${i}`, { root: true });
    context.with(trace.setSpan(ROOT_CONTEXT, span), () =>
      setTimeout(() => {
        work(CALLBACK_MILLIS);
        setTimeout(() => span.end(), 150);
      }, 5),
    );
  }
}

main(sdk, async () => {
  const timer = setInterval(work, 20, BUSY_MILLIS);
  await instrumentation.ready();
  await sleep(500);
  for (let i = 0; i < BURSTS; i++) {
    burst();
    await sleep(350);
  }
  clearInterval(timer);
});
