/** Handlers that wait synchronously, in a loop inside of the event loop: no wait is a block. */
const { startNodeSdk } = require('./support/node-sdk.cjs');

const shutdown = startNodeSdk();
const { createServer } = require('node:http');
const deasync = require('deasync');
const { serveHttp } = require('./support/serve.cjs');
const { block, blockInSteps, warm } = require('./support/work.cjs');

/** Longer than the threshold. */
const WAIT_MILLIS = 150;
const ROUTES = { '/warm': warm, '/handler': block, '/steps': blockInSteps };

const server = createServer(async (request, response) => {
  deasync.sleep(WAIT_MILLIS);
  response.end(JSON.stringify(await ROUTES[request.url]()));
});

serveHttp(server, shutdown);
