// Everything a service needs to find what blocks its event loop: preload this file with `node
// --require`. Where the telemetry goes is up to the usual OTEL_* environment variables.
const { OTLPTraceExporter } = require('@opentelemetry/exporter-trace-otlp-http');
const { NodeSDK } = require('@opentelemetry/sdk-node');
const { BatchSpanProcessor } = require('@opentelemetry/sdk-trace');
const { HttpInstrumentation } = require('@opentelemetry/instrumentation-http');
const { ExpressInstrumentation } = require('@opentelemetry/instrumentation-express');
const {
  EventLoopInstrumentation,
  EventLoopSpanProcessor,
} = require('opentelemetry-instrumentation-event-loop');

const sdk = new NodeSDK({
  spanProcessors: [
    new EventLoopSpanProcessor(),
    new BatchSpanProcessor({
      exporter: new OTLPTraceExporter(),
      scheduledDelayMillis: Number(process.env.OTEL_BSP_SCHEDULE_DELAY ?? 5000),
    }),
  ],
  instrumentations: [
    // Of what the load asks for, only visits are traces.
    new HttpInstrumentation({ requireParentforOutgoingSpans: true }),
    new ExpressInstrumentation(),
    new EventLoopInstrumentation({ thresholdMillis: 50 }),
  ],
});
sdk.start();

// `disconnect` comes when the demo that started this process lets go of it, or is gone. None of
// them comes in a worker thread, which ends with the process.
for (const event of ['SIGTERM', 'SIGINT', 'disconnect']) {
  process.once(event, () => sdk.shutdown().finally(() => process.exit(0)));
}
