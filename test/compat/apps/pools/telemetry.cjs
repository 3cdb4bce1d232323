/** The same SDK in each thread. */
const { OTLPTraceExporter } = require('@opentelemetry/exporter-trace-otlp-http');
const { HttpInstrumentation } = require('@opentelemetry/instrumentation-http');
const { NodeSDK } = require('@opentelemetry/sdk-node');
const { BatchSpanProcessor } = require('@opentelemetry/sdk-trace-node');
const {
  EventLoopInstrumentation,
  EventLoopSpanProcessor,
} = require('opentelemetry-instrumentation-event-loop');

function startTelemetry() {
  const sdk = new NodeSDK({
    spanProcessors: [new EventLoopSpanProcessor(), new BatchSpanProcessor(new OTLPTraceExporter())],
    instrumentations: [new HttpInstrumentation(), new EventLoopInstrumentation()],
  });
  sdk.start();
  return () => sdk.shutdown();
}

module.exports = { startTelemetry };
