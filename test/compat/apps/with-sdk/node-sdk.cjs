/** NodeSDK as the README shows it; exports by what the OTEL_ variables say. */
const { HttpInstrumentation } = require('@opentelemetry/instrumentation-http');
const { NodeSDK } = require('@opentelemetry/sdk-node');
const { EventLoopInstrumentation } = require('opentelemetry-instrumentation-event-loop');

function startNodeSdk(...instrumentations) {
  const sdk = new NodeSDK({
    instrumentations: [
      new HttpInstrumentation(),
      ...instrumentations,
      new EventLoopInstrumentation(),
    ],
  });
  sdk.start();
  return () => sdk.shutdown();
}

module.exports = { startNodeSdk };
