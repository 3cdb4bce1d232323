/**
 * What every scenario app shares: the real SDK, and one record of both what the SDK exported and
 * what the app itself knows to be true (`truth.cjs`).
 */
const { createInterface } = require('node:readline');
const { setImmediate: nextIteration, setTimeout: sleep } = require('node:timers/promises');
const otel = require('@opentelemetry/api');
const { context, diag, DiagLogLevel, metrics, propagation } = otel;
const { ROOT_CONTEXT, SpanKind, trace } = otel;
const { AsyncLocalStorageContextManager } = require('@opentelemetry/context-async-hooks');
const { W3CTraceContextPropagator } = require('@opentelemetry/core');
const { registerInstrumentations } = require('@opentelemetry/instrumentation');
const { ExpressInstrumentation } = require('@opentelemetry/instrumentation-express');
const { HttpInstrumentation } = require('@opentelemetry/instrumentation-http');
const {
  AggregationTemporality,
  MeterProvider,
  PeriodicExportingMetricReader,
} = require('@opentelemetry/sdk-metrics');
const { SimpleSpanProcessor, TracerProvider } = require('@opentelemetry/sdk-trace');
const truth = require('./truth.cjs');

const { block, note, readRunDelay, readRunDelays, record, startTruth, truthOf, unixTime, work } =
  truth;

/**
 * Blocks are reported in a `setImmediate` after they ended: this long the loop is left to turn,
 * idle.
 */
const SETTLE_MILLIS = 25;
const NEVER_BY_ITSELF_MILLIS = 3_600_000;

/** The shorter the time between two readings, the fewer measurements are void. */
async function wait(millis) {
  readRunDelay();
  await sleep(millis);
  readRunDelay();
}

// --- what is recorded

const epochMillis = ([seconds, nanos]) => seconds * 1e3 + nanos / 1e6;
const millisBetween = (from, to) => (to[0] - from[0]) * 1e3 + (to[1] - from[1]) / 1e6;

const recordingSpanExporter = {
  export(spans, done) {
    for (const span of spans) {
      record({
        type: 'span',
        name: span.name,
        kind: span.kind,
        traceId: span.spanContext().traceId,
        spanId: span.spanContext().spanId,
        parentSpanId: span.parentSpanContext?.spanId,
        startMillis: epochMillis(span.startTime),
        endMillis: epochMillis(span.endTime),
        durationMillis: millisBetween(span.startTime, span.endTime),
        attributes: span.attributes,
        links: span.links.map(({ context, attributes }) => ({
          traceId: context.traceId,
          spanId: context.spanId,
          attributes: attributes ?? {},
        })),
        status: span.status,
        scope: span.instrumentationScope.name,
      });
    }
    done({ code: 0 });
  },
  async forceFlush() {},
  async shutdown() {},
};

let phase = 'end';

const recordingMetricExporter = {
  export({ scopeMetrics }, done) {
    for (const { scope, metrics } of scopeMetrics) {
      for (const { descriptor, dataPoints } of metrics) {
        for (const { attributes, value } of dataPoints) {
          record({
            type: 'metric',
            phase,
            scope: scope.name,
            name: descriptor.name,
            unit: descriptor.unit,
            attributes,
            value,
          });
        }
      }
    }
    done({ code: 0 });
  },
  selectAggregationTemporality: () => AggregationTemporality.DELTA,
  async forceFlush() {},
  async shutdown() {},
};

const metricReader = new PeriodicExportingMetricReader({
  exporter: recordingMetricExporter,
  exportIntervalMillis: NEVER_BY_ITSELF_MILLIS,
});

/** Exports the metrics gathered since the last call, under this name. */
async function endPhase(name) {
  phase = name;
  await metricReader.forceFlush();
  phase = 'end';
}

const recordDiag =
  (level) =>
  (...args) =>
    record({ type: 'diag', level, message: args.map(String).join(' ') });

diag.setLogger(
  { error: recordDiag('error'), warn: recordDiag('warn'), info() {}, debug() {}, verbose() {} },
  DiagLogLevel.WARN,
);

const recordSpans = () => new SimpleSpanProcessor({ exporter: recordingSpanExporter });

/** The options every app gives the instrumentation, unless it says otherwise. */
function eventLoopConfig(config) {
  const asyncHooks = process.env.SCENARIO_ASYNC_HOOKS ?? 'auto';
  const options = { thresholdMillis: 100, asyncHooks, ...config };
  note('thresholdMillis', options.thresholdMillis);
  return options;
}

const withHttp = (instrumentations) => [
  ...instrumentations,
  new HttpInstrumentation(),
  new ExpressInstrumentation(),
];

/** The first span of a process is slow, and this is still before the first turn of the loop. */
const warmUp = () =>
  trace.getTracer('scenario').startActiveSpan('first span', (span) => span.end());

/**
 * Starts the real SDK with these instrumentations beside HTTP and Express; `processors` stand
 * before the one that records. It is set up as by `NodeSDK`, which loads a thousand files of
 * exporters: most of the time that a small app takes.
 */
function startSdk({ instrumentations = [], processors = [], ...others } = {}) {
  const unknown = Object.keys(others);
  if (unknown.length > 0) throw new TypeError(`for startNodeSdk: ${unknown}`);
  const all = withHttp(instrumentations);
  registerInstrumentations({ instrumentations: all });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  const meterProvider = new MeterProvider({ readers: [metricReader] });
  metrics.setGlobalMeterProvider(meterProvider);
  for (const each of all) each.setMeterProvider(meterProvider);
  const tracerProvider = new TracerProvider({ spanProcessors: [...processors, recordSpans()] });
  trace.setGlobalTracerProvider(tracerProvider);
  warmUp();
  return { shutdown: () => Promise.all([tracerProvider.shutdown(), meterProvider.shutdown()]) };
}

/**
 * The same with this package, which gets `config`; with `stalls`, its span processor stands before
 * the others.
 */
function startInstrumented(
  config,
  { stalls = false, instrumentations = [], processors = [] } = {},
) {
  const {
    EventLoopInstrumentation,
    EventLoopSpanProcessor,
  } = require('opentelemetry-instrumentation-event-loop');
  const eventLoop = new EventLoopInstrumentation(eventLoopConfig(config));
  const sdk = startSdk({
    instrumentations: [eventLoop, ...instrumentations],
    processors: [...(stalls ? [new EventLoopSpanProcessor()] : []), ...processors],
  });
  return { eventLoop, sdk };
}

/** The same by `NodeSDK` itself, which gets the options. */
function startNodeSdk({ instrumentations, ...options }) {
  const { NodeSDK } = require('@opentelemetry/sdk-node');
  const sdk = new NodeSDK({
    autoDetectResources: false,
    spanProcessors: [recordSpans()],
    metricReaders: [metricReader],
    instrumentations: withHttp(instrumentations),
    ...options,
  });
  sdk.start();
  if (!options.spanProcessors) warmUp();
  return sdk;
}

/**
 * Lets the last blocks be reported, flushes, and says so. The process then has to end by itself.
 */
async function finish(sdk) {
  await wait(SETTLE_MILLIS);
  await sdk.shutdown();
  note('finished', unixTime());
}

// --- how a service is driven from outside

/**
 * Around the code of each request, as near as can be without a callback of its own in front of it.
 */
function readAroundRequests(server) {
  server.prependListener('request', () => {
    readRunDelay();
    setImmediate(() => readRunDelay()); // in the same iteration, before a block of it is reported
  });
}

/**
 * Serves, on a port of its own or on this Unix socket, until the test closes standard input. A line
 * `phase <name>` there ends a phase of the metrics.
 */
async function serve(server, sdk, socket) {
  // A connection that is closed for being idle while a request is on its way is reset.
  server.keepAliveTimeout = NEVER_BY_ITSELF_MILLIS;
  readAroundRequests(server);
  const where = socket === undefined ? { port: 0, host: '127.0.0.1' } : { path: socket };
  await new Promise((resolve) => server.listen(where, resolve));
  process.stdout.write(`listening ${socket ?? server.address().port}\n`);
  for await (const line of createInterface({ input: process.stdin })) {
    await endPhase(line.slice('phase '.length));
    process.stdout.write(`${line}\n`);
  }
  server.close();
  server.closeAllConnections();
  await finish(sdk);
}

/** Waits until stack samples are taken, which keeps no process alive. */
async function ready(eventLoop) {
  const alive = setInterval(() => {}, 1000);
  await eventLoop.ready();
  clearInterval(alive);
}

/** Runs the app, and lets it end. */
async function main(sdk, run) {
  await run();
  await finish(sdk);
}

/** Runs this in a span, which ends when it has returned, or when its promise is settled. */
function inSpan(name, run) {
  return trace.getTracer('scenario').startActiveSpan(name, (span) => {
    const result = run(span);
    if (result instanceof Promise) return result.finally(() => span.end());
    span.end();
    return result;
  });
}

/** Blocks the event loop for `millis` in a span of that name. */
const blockInSpan = (label, millis) => inSpan(label, () => block(label, millis));

/** Runs `work` in the entry span of a request, which is in a trace of its own. */
async function inRequest(name, work) {
  const span = trace.getTracer('app').startSpan(name, { kind: SpanKind.SERVER }, ROOT_CONTEXT);
  await context.with(trace.setSpan(ROOT_CONTEXT, span), work);
  span.end();
}

/** Runs `job` in a callback of its own, with the loop idle before and after it. */
async function alone(job) {
  await wait(SETTLE_MILLIS);
  readRunDelays();
  await new Promise((resolve, reject) => {
    setTimeout(() => Promise.resolve(job()).then(resolve, reject), 1);
  });
  await nextIteration();
  readRunDelays();
  await wait(SETTLE_MILLIS);
}

module.exports = {
  alone,
  block,
  blockInSpan,
  endPhase,
  eventLoopConfig,
  finish,
  inRequest,
  inSpan,
  main,
  note,
  readRunDelay,
  readRunDelays,
  ready,
  record,
  recordSpans,
  recordingSpanExporter,
  serve,
  startInstrumented,
  startNodeSdk,
  startSdk,
  startTruth,
  truthOf,
  unixTime,
  wait,
  work,
};
