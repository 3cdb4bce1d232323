/** `@vercel/otel` in a plain Node.js service; next.js has a subject of its own. */
const { ExpressInstrumentation } = require('@opentelemetry/instrumentation-express');
const { HttpInstrumentation } = require('@opentelemetry/instrumentation-http');
const { registerOTel } = require('@vercel/otel');
const { trace } = require('@opentelemetry/api');
const { EventLoopInstrumentation } = require('opentelemetry-instrumentation-event-loop');

registerOTel({
  serviceName: 'vercel',
  instrumentations: [
    new HttpInstrumentation(),
    new ExpressInstrumentation(),
    new EventLoopInstrumentation(),
  ],
});
const { expressService } = require('./support/express-service.cjs');
const { serveHttp } = require('./support/serve.cjs');

serveHttp(expressService(), () => trace.getTracerProvider().getDelegate().shutdown());
