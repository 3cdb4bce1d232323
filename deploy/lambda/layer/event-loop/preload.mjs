/**
 * Comes before the OpenTelemetry layer's own preload, which calls `globalThis.configureTracer` with
 * the configuration of its SDK. Never throws: a preload that throws ends the function.
 */
import { setImmediate as nextIteration } from 'node:timers/promises';

/** A block ends with its task, and is reported in the iterations after it. */
const ITERATIONS = 3;

try {
  const { EventLoopInstrumentation, EventLoopSpanProcessor } = await import(
    'opentelemetry-instrumentation-event-loop'
  );
  const { metrics, trace } = await import('@opentelemetry/api');
  const instrumentation = new EventLoopInstrumentation();
  // A tracer does not follow to a provider that another copy of the api registers later.
  const takeProviders = () => {
    instrumentation.setTracerProvider(trace.getTracerProvider());
    instrumentation.setMeterProvider(metrics.getMeterProvider());
  };
  const configure = globalThis.configureTracer;
  globalThis.configureTracer = (config) => {
    const configured = configure?.(config) ?? config;
    const spanProcessors = configured.spanProcessors ?? [];
    spanProcessors.unshift(
      new EventLoopSpanProcessor(),
      flushOfInvocation(instrumentation, spanProcessors, takeProviders),
    );
    return { ...configured, spanProcessors };
  };
} catch (error) {
  process.stderr.write(
    `opentelemetry-instrumentation-event-loop: cannot start: ${error.message}\n`,
  );
}

/**
 * The SDK is flushed at the end of an invocation, in the task that may have blocked, and the
 * process is frozen right after: the spans of blocks are waited for, and sent as well.
 * @param spanProcessors those of the SDK; the layer adds its exporters to them later
 * @param onFirstSpan called once the SDK is registered
 */
function flushOfInvocation(instrumentation, spanProcessors, onFirstSpan) {
  let isFirst = true;
  const self = {
    onStart() {
      if (isFirst) onFirstSpan();
      isFirst = false;
    },
    onEnd() {},
    async forceFlush() {
      for (let i = 0; i < ITERATIONS; i++) await nextIteration();
      await instrumentation.forceFlush();
      const others = spanProcessors.filter((processor) => processor !== self);
      await Promise.all(others.map((processor) => processor.forceFlush()));
    },
    async shutdown() {},
  };
  return self;
}
