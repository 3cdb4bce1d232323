// Loaded before anything else: `node --require ./telemetry.cjs app.cjs`, or required first.
// Exports by OTLP, as the standard OTEL_* variables say.
const { HttpInstrumentation } = require('@opentelemetry/instrumentation-http');
const { NodeSDK } = require('@opentelemetry/sdk-node');
const { EventLoopInstrumentation } = require('opentelemetry-instrumentation-event-loop');

const eventLoop = new EventLoopInstrumentation();
const sdk = new NodeSDK({ instrumentations: [eventLoop, new HttpInstrumentation()] });
sdk.start();

module.exports = { eventLoop, sdk };
