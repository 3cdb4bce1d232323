/** A service that knows nothing of the package. With `own-api` it makes a span of its own. */
const http = require('node:http');
const { running } = require('./thread-times.cjs');

const BLOCK_MILLIS = 200;

function hashAll() {
  const isRunning = running(BLOCK_MILLIS);
  let hash = 0;
  // Nearly all of its time is its own, not that of the clock.
  while (isRunning()) for (let i = 0; i < 200_000; i++) hash = (hash * 31 + i) | 0;
  return hash;
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
