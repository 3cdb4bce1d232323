/** What `next start` does, in a process that ends on request. */
const { createServer } = require('node:http');
const { trace } = require('@opentelemetry/api');
const next = require('next');
const { serveHttp } = require('./support/serve.cjs');

(async () => {
  const app = next({ dev: false, dir: __dirname, hostname: '127.0.0.1' });
  await app.prepare();
  await serveHttp(createServer(app.getRequestHandler()), async () => {
    await app.close();
    await trace.getTracerProvider().getDelegate().shutdown();
  });
})();
