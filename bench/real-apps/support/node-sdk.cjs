/** Preloaded instead of `/register`: the class in a `NodeSDK`, as the README sets it up. */
const { getNodeAutoInstrumentations } = require('@opentelemetry/auto-instrumentations-node');
const { NodeSDK } = require('@opentelemetry/sdk-node');
const { EventLoopInstrumentation } = require('opentelemetry-instrumentation-event-loop');

new NodeSDK({
  instrumentations: [getNodeAutoInstrumentations(), new EventLoopInstrumentation()],
}).start();
