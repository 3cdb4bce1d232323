/**
 * Splunk's distribution. Its exporter for OTLP is set to write JSON, which it has no variable for.
 */
const { OTLPTraceExporter } = require('@opentelemetry/exporter-trace-otlp-http');
const { start, stop } = require('@splunk/otel');
const { getInstrumentations } = require('@splunk/otel/lib/instrumentations');
const { EventLoopInstrumentation } = require('opentelemetry-instrumentation-event-loop');

start({
  tracing: {
    instrumentations: [...getInstrumentations(), new EventLoopInstrumentation()],
    spanExporterFactory: () => new OTLPTraceExporter(),
  },
});
const { expressService } = require('./support/express-service.cjs');
const { serveHttp } = require('./support/serve.cjs');

serveHttp(expressService(), () => stop());
