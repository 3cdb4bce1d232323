/**
 * Elastic's distribution, started from code: what it starts by itself has no place for further
 * instrumentations.
 */
const { getInstrumentations, startNodeSDK } = require('@elastic/opentelemetry-node/sdk');
const { EventLoopInstrumentation } = require('opentelemetry-instrumentation-event-loop');

const sdk = startNodeSDK({
  instrumentations: [...getInstrumentations(), new EventLoopInstrumentation()],
});
const { expressService } = require('./support/express-service.cjs');
const { serveHttp } = require('./support/serve.cjs');

serveHttp(expressService(), () => sdk.shutdown());
