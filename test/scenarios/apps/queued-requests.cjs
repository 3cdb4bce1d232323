// A service that is blocked while requests come, on connections that it has and on new ones.
const { createServer } = require('node:http');
const { connect } = require('node:net');
const { trace } = require('@opentelemetry/api');
const { block, serve, startInstrumented } = require('./support/telemetry.cjs');

const [, , blockMillis, end = ''] = process.argv;
const { sdk } = startInstrumented({}, { stalls: true });
const express = require('express');

const kill = () => process.kill(process.pid, 'SIGKILL');
const ends = {
  exit: () => process.exit(),
  flush: () => trace.getTracerProvider().getDelegate().forceFlush().then(kill),
  shutdown: () => sdk.shutdown().then(kill),
};

const app = express();
app.get('/ready', (_request, response) => response.send('ready'));
app.get('/report', (_request, response) => {
  process.stdout.write('blocking\n');
  // Before the block's span can have the number of requests.
  setImmediate(ends[end] ?? (() => {}));
  block('report', Number(blockMillis));
  response.send('done');
});
// As the client of a queue that the first request makes.
app.get('/subscribe/:port', (request, response) => {
  connect(Number(request.params.port)).on('data', () => {
    process.stdout.write('blocking\n');
    block('message', Number(blockMillis));
  });
  response.send('subscribed');
});

serve(createServer(app), sdk);
