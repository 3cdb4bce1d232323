// An instrumentation that cannot be taken out.
const { HttpInstrumentation } = require('@opentelemetry/instrumentation-http');

HttpInstrumentation.prototype.disable = () => {
  throw new Error('not me');
};
