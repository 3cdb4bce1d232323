const { ExpressInstrumentation } = require('@opentelemetry/instrumentation-express');
const { startNodeSdk } = require('./support/node-sdk.cjs');

const shutdown = startNodeSdk(new ExpressInstrumentation());
const { expressService } = require('./support/express-service.cjs');
const { serveHttp } = require('./support/serve.cjs');

serveHttp(expressService(), shutdown);
