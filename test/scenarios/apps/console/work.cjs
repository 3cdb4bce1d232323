// A program that knows nothing of OpenTelemetry: blocks, and ends in the way that it is asked for.
const { writeSync } = require('node:fs');
const { createServer } = require('node:http');
const Module = require('node:module');
const { running } = require('../../../support/thread-times.cjs');

function hashRow(millis) {
  let hash = 0;
  for (const goesOn = running(millis); goesOn(); )
    for (let i = 0; i < 1000; i++) hash = Math.imul(hash ^ i, 0x01000193);
  return hash;
}

const WAYS = {
  'by itself'() {},
  'thirteen times more'(left = 13) {
    hashRow(120);
    if (left > 1) setTimeout(WAYS['thirteen times more'], 5, left - 1);
  },
  'exit code'() {
    process.exitCode = 7;
  },
  'process.exit'() {
    hashRow(150);
    process.exit(3);
  },
  crash() {
    throw new Error('crashes');
  },
  rejection() {
    Promise.reject(new Error('rejects'));
  },
  server() {
    createServer((_request, response) => response.end()).listen(0, '127.0.0.1', () => {
      setTimeout(hashRow, 50, 160);
      setTimeout(() => console.log('listening'), 150);
    });
  },
  'never turns again'() {
    process.stdout.write('blocks\n', () => setTimeout(hashRow, 10, 60_000));
  },
  'blocks for long'() {
    setInterval(() => {}, 1000);
    writeSync(1, 'blocks\n');
    hashRow(3000);
  },
  'own instrumentation'() {
    const { EventLoopInstrumentation } = require('opentelemetry-instrumentation-event-loop');
    const own = new EventLoopInstrumentation({ thresholdMillis: 50 });
    const alive = setInterval(() => {}, 1000);
    own.ready().then(() => {
      setTimeout(hashRow, 100, 80);
      setTimeout(() => own.disable(), 400);
      setTimeout(hashRow, 600, 140);
      setTimeout(clearInterval, 1000, alive);
    });
  },
  'unwanted blocks'() {
    const api = require('@opentelemetry/api');
    const { AsyncLocalStorageContextManager } = require('@opentelemetry/context-async-hooks');
    api.context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    const { EventLoopInstrumentation } = require('opentelemetry-instrumentation-event-loop');
    const own = new EventLoopInstrumentation({
      ignoreBlockHook: ({ code }) => code?.functionName === 'renderNightly',
    });
    const renderNightly = () => {
      for (const goesOn = running(150); goesOn(); );
    };
    const warmUp = () => {
      for (const goesOn = running(150); goesOn(); );
    };
    const alive = setInterval(() => {}, 1000);
    own.ready().then(() => {
      setTimeout(renderNightly, 100);
      setTimeout(() => own.expectBlock(warmUp), 300);
      setTimeout(hashRow, 500, 140);
      setTimeout(clearInterval, 800, alive);
    });
  },
  'worker thread'() {
    const { Worker } = require('node:worker_threads');
    const threadTimes = JSON.stringify(require.resolve('../../../support/thread-times.cjs'));
    const block = `for (const goesOn = require(${threadTimes}).running(200); goesOn(); );`;
    new Worker(`setTimeout(() => { ${block} }, 100)`, { eval: true });
  },
};

exports.run = async (way) => {
  // The thread that watches comes up meanwhile.
  await new Promise((resolve) => setTimeout(resolve, 200));
  setTimeout(hashRow, 10, 200);
  await new Promise((resolve) => setTimeout(resolve, 50));
  const loaded = Object.keys(Module._cache).join('\n');
  console.log(
    `loaded ${/(require|import)-in-the-middle|@opentelemetry.instrumentation.build/.test(loaded)}`,
  );
  setTimeout(WAYS[way], 50);
};
