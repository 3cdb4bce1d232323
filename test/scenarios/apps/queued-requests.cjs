// A service that is blocked while requests come, on connections that it has and on new ones.
const { createServer } = require('node:http');
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

serve(createServer(app), sdk);
