// An interval of 100 ms, a file read in flight, then one second of synchronous work.
const fs = require('node:fs');
const { trace } = require('@opentelemetry/api');
const telemetry = require('./support/telemetry.cjs');
const { blockInSpan, endPhase, main, note, startInstrumented, wait } = telemetry;

const { sdk } = startInstrumented();
const tracer = trace.getTracer('one-second');

main(sdk, async () => {
  await wait(50);
  const interval = tracer.startActiveSpan('interval', (span) => {
    note('interval trace', span.spanContext().traceId);
    const timer = setInterval(() => note('interval fired', true), 100);
    return { timer, span };
  });
  await wait(250);
  await endPhase('before');

  const read = tracer.startActiveSpan('read', (span) => {
    const promise = fs.promises.readFile(__filename);
    return promise.then(() => span.end());
  });
  setTimeout(() => {
    blockInSpan('work', 1000);
  }, 1);
  await read;
  await wait(250);
  await endPhase('work');
  clearInterval(interval.timer);
  interval.span.end();
});
