/**
 * What goes into the bundle: an SDK, HTTP instrumentation, and this package, which bundlers resolve
 * as CommonJS.
 */
const { OTLPTraceExporter } = require('@opentelemetry/exporter-trace-otlp-http');
const { registerInstrumentations } = require('@opentelemetry/instrumentation');
const { HttpInstrumentation } = require('@opentelemetry/instrumentation-http');
const { BatchSpanProcessor, NodeTracerProvider } = require('@opentelemetry/sdk-trace-node');
const { EventLoopInstrumentation } = require('opentelemetry-instrumentation-event-loop');

const provider = new NodeTracerProvider({
  spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
});
provider.register();
registerInstrumentations({
  instrumentations: [new HttpInstrumentation(), new EventLoopInstrumentation()],
});

module.exports = { shutdown: () => provider.shutdown() };
