/** A service that knows nothing of the package. With `own-api` it makes a span of its own. */
const http = require('node:http');
const { running } = require('./thread-times.cjs');

const BLOCK_MILLIS = 200;

function hashAll() {
  const isRunning = running(BLOCK_MILLIS);
  while (isRunning());
}

const inOwnSpan = (work) => {
  const { trace } = require('@opentelemetry/api');
  return trace.getTracer('app').startActiveSpan('own work', (span) => {
    work();
    span.end();
  });
};

const server = http.createServer((_request, response) => {
  if (process.argv.includes('own-api')) inOwnSpan(hashAll);
  else hashAll();
  response.end('done');
});
server.listen(0, '127.0.0.1', () => console.log(`listening ${server.address().port}`));
