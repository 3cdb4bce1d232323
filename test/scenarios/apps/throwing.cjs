// Callbacks that block the event loop and then throw, each followed by a block that does not.
const { AsyncResource } = require('node:async_hooks');
const http = require('node:http');
const { trace } = require('@opentelemetry/api');
const telemetry = require('./support/telemetry.cjs');
const { alone, block, blockInSpan, finish, note, startInstrumented, wait, work } = telemetry;

const BLOCK_MILLIS = 150;
const SHORT_MILLIS = 40; // of a threshold of 100

const { sdk } = startInstrumented();
const tracer = trace.getTracer('throwing');

const throwInSpan = (label) =>
  tracer.startActiveSpan(label, (span) => {
    block(label, BLOCK_MILLIS);
    span.end();
    throw new Error(`thrown in ${label}`);
  });

const callbacks = {
  timer: (callback) => setTimeout(callback, 1),
  immediate: (callback) => setImmediate(callback),
  tick: (callback) => process.nextTick(callback),
  queueMicrotask: (callback) => queueMicrotask(callback),
  'async resource': (callback) =>
    setTimeout(() => new AsyncResource('Job').runInAsyncScope(callback), 1),
  'nested async resources': (callback) =>
    setTimeout(() => {
      new AsyncResource('Outer').runInAsyncScope(() =>
        new AsyncResource('Inner').runInAsyncScope(callback),
      );
    }, 1),
  // The parser's callback, inside that of the socket, has no `after` then.
  'HTTP client response': (callback) => {
    const server = http.createServer((_request, response) => response.end());
    server.listen(0, '127.0.0.1', () =>
      http.get({ port: server.address().port, host: '127.0.0.1' }, (response) => {
        response.destroy();
        server.close();
        callback();
      }),
    );
  },
  promise: (callback) => Promise.resolve().then(callback),
};

async function throwAndGoOn() {
  const caught = [];
  let onCaught = () => {};
  const goOn = (error) => {
    caught.push(error.message);
    onCaught();
  };
  process.on('uncaughtException', goOn);
  process.on('unhandledRejection', goOn);

  await alone(() => {
    try {
      throwInSpan('handled');
    } catch (error) {
      caught.push(error.message);
    }
  });
  for (const [name, schedule] of Object.entries(callbacks)) {
    await alone(() => {
      const handled = new Promise((resolve) => {
        onCaught = resolve;
      });
      schedule(() => throwInSpan(name));
      return handled;
    });
    // were the account of callbacks off by one now, these would be taken for one
    for (let i = 0; i < 3; i++) await alone(() => work(SHORT_MILLIS));
    await alone(() => blockInSpan(`after ${name}`, BLOCK_MILLIS));
  }
  note('caught', caught);
  await finish(sdk);
}

if (process.argv[2] === 'uncaught') {
  wait(50).then(() => setTimeout(() => throwInSpan('uncaught'), 1));
} else {
  throwAndGoOn();
}
