// Built-in functions that take long in a single call, each alone in a span of its name. `caller` is
// the function that has to be named.
const { trace } = require('@opentelemetry/api');
const { calibrate, cleanUp, nativeCalls } = require('../../../tools/labelled-blockers.cjs');
const { unstarvedMillis } = require('../../support/thread-times.cjs');
const { alone, main, ready, startInstrumented, truthOf } = require('./support/telemetry.cjs');

const THRESHOLD_MILLIS = 30;

/** All of them, the n-th of m parts (`1/3`), or these (`JSON.parse,v8.serialize`). */
function choose(argument = '1/1') {
  const part = /^(\d+)\/(\d+)$/.exec(argument);
  return Object.keys(nativeCalls).filter((name, i) =>
    part ? i % Number(part[2]) === Number(part[1]) - 1 : argument.split(',').includes(name),
  );
}

const names = choose(process.argv[2]);
const { eventLoop: instrumentation, sdk } = startInstrumented({
  thresholdMillis: THRESHOLD_MILLIS,
});
const tracer = trace.getTracer('native-calls');

/** Between the span and the function that has to be named: what is named if that one is gone. */
function handle(run, input) {
  return run(input);
}

main(sdk, async () => {
  await ready(instrumentation);
  for (const name of names) {
    const { run } = nativeCalls[name];
    const input = calibrate(nativeCalls[name], unstarvedMillis);
    await alone(() =>
      tracer.startActiveSpan(name, { attributes: { caller: run.name } }, (span) => {
        truthOf(name, () => handle(run, input), { waits: true });
        span.end();
      }),
    );
  }
  cleanUp();
});
