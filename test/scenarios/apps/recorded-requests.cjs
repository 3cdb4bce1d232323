// A test of a service: requests wait for a block while it is recorded.
const { createServer } = require('node:http');
const { setTimeout: sleep } = require('node:timers/promises');
const { EventLoopSpanProcessor } = require('opentelemetry-instrumentation-event-loop');
const {
  expectNoBlocks,
  recordBlocks,
} = require('opentelemetry-instrumentation-event-loop/testing');
const { block, note, startSdk, wait } = require('./support/telemetry.cjs');

const REQUESTS = 4;
const BLOCK_MILLIS = 300;

startSdk({ processors: [new EventLoopSpanProcessor()] });
const express = require('express');
const app = express();
app.get('/list', async (_request, response) => {
  await wait(150);
  response.send('done');
});

async function exercise(port) {
  const requests = Array.from({ length: REQUESTS }, () => fetch(`http://127.0.0.1:${port}/list`));
  await sleep(80);
  block('recorded', BLOCK_MILLIS);
  for (const response of await Promise.all(requests)) await response.text();
}

const server = createServer(app).listen(0, '127.0.0.1', async () => {
  const { port } = server.address();
  await exercise(port);
  const blocks = await recordBlocks(() => exercise(port));
  note('blocks', blocks);
  const error = await expectNoBlocks(() => exercise(port)).catch((failed) => failed);
  note('message', error.message);
  server.close();
  server.closeAllConnections();
});
