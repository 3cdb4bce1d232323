// One request to an HTTP server, whose handler blocks. What differs is the order in which tracing
// is set up.
const [order] = process.argv.slice(2);

const loadedBefore = order === 'the SDK after http' ? require('node:http') : undefined;
const { EventLoopInstrumentation } = require('opentelemetry-instrumentation-event-loop');
const madeFirst =
  order === 'the event loop before http' ? new EventLoopInstrumentation() : undefined;
// As most packages do that send or receive anything.
if (madeFirst !== undefined) require('node:http');
const { HttpInstrumentation } = require('@opentelemetry/instrumentation-http');
const { startSdk, work } = require('./telemetry.cjs');

const eventLoop = madeFirst ?? new EventLoopInstrumentation();
startSdk(eventLoop, new HttpInstrumentation());

const { createServer, get } = loadedBefore ?? require('node:http');
const server = createServer((_request, response) => {
  work(300);
  response.end();
});
server.listen(0, '127.0.0.1', async () => {
  await eventLoop.ready();
  get({ port: server.address().port, agent: false }, (response) => {
    response.resume().on('end', () => server.close());
  });
});
