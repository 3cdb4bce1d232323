// A part of the telemetry that the package has to call throws, or never answers. The argument says
// which.
const { context } = require('@opentelemetry/api');
const { AsyncLocalStorageContextManager } = require('@opentelemetry/context-async-hooks');
const { SimpleSpanProcessor } = require('@opentelemetry/sdk-trace');
const { EventLoopInstrumentation } = require('opentelemetry-instrumentation-event-loop');
const telemetry = require('./support/telemetry.cjs');
const { alone, blockInSpan, eventLoopConfig, main, note, recordSpans, startNodeSdk, wait, work } =
  telemetry;

const SPAN = 'event-loop-blocked';
const part = process.argv[2];

let calls = 0;
function fail() {
  calls++;
  throw new Error(`${part} fails`);
}

const quietProcessor = { onStart() {}, onEnd() {}, async forceFlush() {}, async shutdown() {} };
const failingExporter = (exported) => ({
  export(spans, done) {
    if (spans.some((span) => span.name === SPAN)) exported(done);
    else done({ code: 0 });
  },
  async forceFlush() {},
  async shutdown() {},
});
const record = { code: 2 }; // SamplingDecision.RECORD_AND_SAMPLED

const hostile = {
  onStart: { processor: { ...quietProcessor, onStart: (span) => span.name === SPAN && fail() } },
  onEnd: { processor: { ...quietProcessor, onEnd: (span) => span.name === SPAN && fail() } },
  exporter: { processor: new SimpleSpanProcessor({ exporter: failingExporter(fail) }) },
  'exporter that never answers': {
    processor: new SimpleSpanProcessor({ exporter: failingExporter(() => calls++) }),
  },
  blockHook: { blockHook: fail },
  'async blockHook': { blockHook: async () => fail() },
  'blockHook that never settles': { blockHook: () => new Promise(() => calls++) },
  sampler: {
    sampler: {
      shouldSample: (_context, _traceId, name) =>
        name === SPAN ? fail() : { decision: record.code },
      toString: () => 'hostile',
    },
  },
  'sampler that drops': {
    sampler: {
      shouldSample: (_context, _traceId, name) => {
        if (name !== SPAN) return { decision: record.code };
        calls++;
        return { decision: 0 };
      },
      toString: () => 'dropping',
    },
  },
  'context manager': { contextManager: new AsyncLocalStorageContextManager().enable() },
}[part];

const { processor, blockHook = () => {}, ...options } = hostile;
const sdk = startNodeSdk({
  spanProcessors: [recordSpans(), ...(processor ? [processor] : [])],
  instrumentations: [new EventLoopInstrumentation(eventLoopConfig({ blockHook }))],
  ...options,
});

main(sdk, async () => {
  for (const label of ['first', 'second']) {
    await alone(() => blockInSpan(label, 150));
  }
  if (part === 'context manager') {
    const manager = options.contextManager;
    manager.active = fail;
    await alone(() => work(150));
    await wait(100);
    delete manager.active;
    context.active();
  }
  note('calls', calls);
});
