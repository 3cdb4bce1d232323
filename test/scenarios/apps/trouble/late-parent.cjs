// A block of 300 ms whose parent begins after it, by the start time that it is given.
const { trace } = require('@opentelemetry/api');
const { EventLoopInstrumentation } = require('opentelemetry-instrumentation-event-loop');
const { startSdk, work } = require('./telemetry.cjs');

const eventLoop = new EventLoopInstrumentation({
  blockHook: (span, { durationMillis }) => span.setAttribute('test.length', durationMillis / 1000),
});
startSdk(eventLoop);

setTimeout(() => {
  trace.getTracer('test').startActiveSpan('late', { startTime: Date.now() + 60_000 }, (span) => {
    work(300);
    span.end();
  });
  eventLoop.forceFlush();
}, 1);
