// Telemetry itself blocks the event loop, for 150 ms each time. The argument says which part of it
// does. `short blockHook`: for 60 ms, beside callbacks of the application that are as long.
const { context, trace } = require('@opentelemetry/api');
const { BatchSpanProcessor, SimpleSpanProcessor } = require('@opentelemetry/sdk-trace');
const { EventLoopInstrumentation } = require('opentelemetry-instrumentation-event-loop');
const { running } = require('../../support/thread-times.cjs');
const telemetry = require('./support/telemetry.cjs');
const {
  alone,
  block,
  eventLoopConfig,
  main,
  note,
  recordingSpanExporter,
  recordSpans,
  startNodeSdk,
  wait,
} = telemetry;

const SLOW_MILLIS = 150;
const SHORT_MILLIS = 60;
const part = process.argv[2];

let calls = 0;
const beSlow = () => block(`${part} ${++calls}`, SLOW_MILLIS);
function beShort() {
  for (const goesOn = running(SHORT_MILLIS); goesOn(); );
}

/** One callback after the other, from the iteration on in which the block is reported. */
const goOn = (callbacks) =>
  new Promise((resolve) => {
    setImmediate(() => {
      beShort();
      resolve(callbacks > 1 ? goOn(callbacks - 1) : undefined);
    });
  });

const slowExporter = {
  ...recordingSpanExporter,
  export(spans, done) {
    beSlow();
    recordingSpanExporter.export(spans, done);
  },
};
const slowProcessor = (method) => ({
  onStart() {},
  onEnd() {},
  async forceFlush() {},
  async shutdown() {},
  [method]: beSlow,
});
const spanProcessors = {
  exporter: () => [new SimpleSpanProcessor({ exporter: slowExporter })],
  'batch exporter': () => [
    new BatchSpanProcessor({ exporter: slowExporter, scheduledDelayMillis: 10 }),
  ],
  onStart: () => [slowProcessor('onStart'), recordSpans()],
  blockHook: () => [recordSpans()],
  'short blockHook': () => [recordSpans()],
}[part]();

const blockHooks = {
  blockHook: beSlow,
  'short blockHook': () => {
    calls++;
    beShort();
  },
};
const blockHook = blockHooks[part] ?? (() => {});
const instrumentation = new EventLoopInstrumentation(eventLoopConfig({ blockHook }));
const sdk = startNodeSdk({ spanProcessors, instrumentations: [instrumentation] });

/** Long enough for a report of the report, and one of that, if there were any. */
const LOOP_WOULD_SHOW_MILLIS = 3 * SLOW_MILLIS + 100;

// before the first turn of the loop: no block
const job = trace.getTracer('own-work').startSpan('job');

main(sdk, async () => {
  const isShort = part === 'short blockHook';
  for (const label of isShort ? ['job', 'job 2', 'job 3'] : ['job'])
    await alone(() => {
      context.with(trace.setSpan(context.active(), job), () => block(label, 200));
      return isShort ? goOn(5) : undefined;
    });
  await wait(LOOP_WOULD_SHOW_MILLIS);
  instrumentation.disable();
  note('slow calls', calls);
  job.end();
});
