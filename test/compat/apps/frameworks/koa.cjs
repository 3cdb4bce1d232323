const { KoaInstrumentation } = require('@opentelemetry/instrumentation-koa');
const { startNodeSdk } = require('./support/node-sdk.cjs');

const shutdown = startNodeSdk(new KoaInstrumentation());
const { createServer } = require('node:http');
const Koa = require('koa');
const { serveHttp } = require('./support/serve.cjs');
const { block, blockInSteps, warm } = require('./support/work.cjs');

const ROUTES = { '/warm': warm, '/handler': block, '/steps': blockInSteps };

const app = new Koa();
app.use(async (ctx) => {
  ctx.body = await ROUTES[ctx.path]();
});

serveHttp(createServer(app.callback()), shutdown);
