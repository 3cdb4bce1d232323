const { HttpInstrumentation } = require('@opentelemetry/instrumentation-http');
const { NodeSDK } = require('@opentelemetry/sdk-node');
const { EventLoopInstrumentation } = require('opentelemetry-instrumentation-event-loop');

const sdk = new NodeSDK({
  instrumentations: [new HttpInstrumentation(), new EventLoopInstrumentation()],
});
sdk.start();
process.once('beforeExit', () => sdk.shutdown());
