// The wall clock is set back or forward, by the argument in milliseconds, while one request waits
// and another one is about to block in a chain of awaits.
require('../../support/unix-time.cjs'); // before the step: the test measures by it
const step = Number(process.argv[2]);
const { now } = Date;
let shift = 0;
Date.now = () => now() + shift;

const { SpanKind, trace } = require('@opentelemetry/api');
const { block, main, startInstrumented, wait } = require('./support/telemetry.cjs');

const AWAITS = 30;

const { sdk } = startInstrumented({}, { stalls: true });
const tracer = trace.getTracer('app');
const SERVER = { kind: SpanKind.SERVER };

main(sdk, async () => {
  await wait(100);
  const waiting = tracer.startSpan('waiting', SERVER);
  await tracer.startActiveSpan('blocking', SERVER, async (span) => {
    await wait(50);
    shift = step;
    // Longer than the interval at which the package looks at the wall clock.
    await wait(300);
    for (let i = 0; i < AWAITS; i++) await block(`part ${i}`, 10);
    await wait(50);
    span.end();
  });
  waiting.end();
});
