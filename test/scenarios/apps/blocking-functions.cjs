// Labelled blockers of every kind, each alone in a span of its name. The attribute
// `blockingFunction` is the function that has to be named.
const { trace } = require('@opentelemetry/api');
const { EventLoopInstrumentation } = require('opentelemetry-instrumentation-event-loop');
const {
  argumentOf,
  blockers,
  calibrate,
  cleanUp,
} = require('../../../tools/labelled-blockers.cjs');
const { alone, eventLoopConfig, finish, startSdk, truthOf } = require('./support/telemetry.cjs');

const THRESHOLD_MILLIS = 40;

/** All of them, the n-th of m parts (`1/3`), or these (`loop,method`). */
function choose(argument = '1/1') {
  const part = /^(\d+)\/(\d+)$/.exec(argument);
  return Object.entries(blockers).filter(([name], i) =>
    part ? i % Number(part[2]) === Number(part[1]) - 1 : argument.split(',').includes(name),
  );
}

const chosen = choose(process.argv[2]);
const inputs = chosen.map(([name, blocker]) => [name, blocker, calibrate(blocker)]);
const sdk = startSdk({
  instrumentations: [
    new EventLoopInstrumentation(eventLoopConfig({ thresholdMillis: THRESHOLD_MILLIS })),
  ],
});
const tracer = trace.getTracer('blockers');

async function main() {
  for (const [name, { blockingFunction, run, asynchronous }, input] of inputs) {
    await alone(() =>
      tracer.startActiveSpan(
        name,
        { attributes: { blockingFunction: blockingFunction.name } },
        async (span) => {
          const argument = argumentOf(input);
          if (asynchronous) await run(argument);
          else truthOf(name, () => run(argument));
          span.end();
        },
      ),
    );
  }
  cleanUp();
  await finish(sdk);
}

main();
