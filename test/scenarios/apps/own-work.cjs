// Telemetry itself blocks the event loop, for 150 ms each time. The argument says which part of it
// does.
const { context, trace } = require('@opentelemetry/api');
const { BatchSpanProcessor, SimpleSpanProcessor } = require('@opentelemetry/sdk-trace');
const { EventLoopInstrumentation } = require('opentelemetry-instrumentation-event-loop');
const telemetry = require('./support/telemetry.cjs');
const {
  alone,
  block,
  eventLoopConfig,
  finish,
  note,
  recordingSpanExporter,
  recordSpans,
  startNodeSdk,
  wait,
} = telemetry;

const SLOW_MILLIS = 150;
const part = process.argv[2];

let calls = 0;
const beSlow = () => block(`${part} ${++calls}`, SLOW_MILLIS);

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
  onEnd: () => [slowProcessor('onEnd'), recordSpans()],
  blockHook: () => [recordSpans()],
}[part]();

const blockHook = part === 'blockHook' ? beSlow : () => {};
const instrumentation = new EventLoopInstrumentation(eventLoopConfig({ blockHook }));
const sdk = startNodeSdk({ spanProcessors, instrumentations: [instrumentation] });

/** Long enough for a report of the report, and one of that, if there were any. */
const LOOP_WOULD_SHOW_MILLIS = 3 * SLOW_MILLIS + 100;

// before the first turn of the loop: no block
const job = trace.getTracer('own-work').startSpan('job');

async function main() {
  await alone(() => {
    context.with(trace.setSpan(context.active(), job), () => block('job', 200));
  });
  await wait(LOOP_WOULD_SHOW_MILLIS);
  instrumentation.disable();
  note('slow calls', calls);
  job.end();
  await finish(sdk);
}

main();
