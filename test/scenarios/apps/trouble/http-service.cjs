// One request to an HTTP server, whose handler blocks. What differs is the order in which tracing is set up.
const [order] = process.argv.slice(2);

if (order === 'SDK after http') require('node:http');

const { EventLoopInstrumentation } = require('opentelemetry-instrumentation-event-loop');
let eventLoop;
if (order === 'event loop first') {
  eventLoop = new EventLoopInstrumentation();
  require('node:http'); // as most packages do that send or receive anything
}
const { HttpInstrumentation } = require('@opentelemetry/instrumentation-http');
const { startSdk, work } = require('./telemetry.cjs');
const http1 = new HttpInstrumentation();
eventLoop ??= new EventLoopInstrumentation();
startSdk(http1, eventLoop);

const { createServer, get } = require('node:http');
const server = createServer((_request, response) => {
  work(150);
  response.end();
});
server.listen(0, '127.0.0.1', () => {
  setTimeout(() => {
    get({ port: server.address().port, agent: false }, (response) => {
      response.resume().on('end', () => server.close());
    });
  }, 100);
});
