// Registers one part of an SDK itself, which its argument names; without one, a propagator and then
// an SDK.
const { context, metrics, propagation } = require('@opentelemetry/api');

const [part] = process.argv.slice(2);
if (part === 'context manager') {
  const { AsyncLocalStorageContextManager } = require('@opentelemetry/context-async-hooks');
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
} else if (part === 'meter provider') {
  const { MeterProvider, MetricReader } = require('@opentelemetry/sdk-metrics');
  class AtExit extends MetricReader {
    async onForceFlush() {}
    async onShutdown() {}
  }
  const reader = new AtExit();
  metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));
  process.once('beforeExit', async () => {
    const { resourceMetrics } = await reader.collect();
    for (const { metrics: found } of resourceMetrics.scopeMetrics)
      for (const { descriptor } of found) console.log(`metric ${descriptor.name}`);
  });
} else {
  propagation.setGlobalPropagator({ inject() {}, extract: (given) => given, fields: () => [] });
  if (part === undefined) require('./tracing.cjs');
}
require('./service.cjs');
