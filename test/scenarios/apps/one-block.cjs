// One block, for any flags and loaders of Node.js. Argument: what is done to `Error` first.
const { trace } = require('@opentelemetry/api');
const { EventLoopInstrumentation } = require('opentelemetry-instrumentation-event-loop');
const {
  alone,
  block,
  eventLoopConfig,
  finish,
  note,
  startSdk,
} = require('./support/telemetry.cjs');

const eventLoop = new EventLoopInstrumentation(eventLoopConfig());
const sdk = startSdk({ instrumentations: [eventLoop] });

const errors = {
  'prepareStackTrace replaced'() {
    Error.prepareStackTrace = (_error, frames) => frames;
  },
  'prepareStackTrace throwing'() {
    Error.prepareStackTrace = () => {
      throw new Error('no stack trace for you');
    };
  },
  'stackTraceLimit zero'() {
    Error.stackTraceLimit = 0;
  },
  'stackTraceLimit frozen'() {
    Object.defineProperty(Error, 'stackTraceLimit', {
      value: 3,
      writable: false,
      configurable: false,
    });
  },
  'Error frozen'() {
    Object.freeze(Error);
  },
};

async function main() {
  errors[process.argv[2]]?.();
  const before = [Error.prepareStackTrace, Error.stackTraceLimit];
  await alone(() =>
    trace.getTracer('one-block').startActiveSpan('job', (span) => {
      block('job', 200);
      span.end();
    }),
  );
  const after = [Error.prepareStackTrace, Error.stackTraceLimit];
  note(
    'Error as it was',
    before.every((value, i) => value === after[i]),
  );
  // A source map is read by a thread, which keeps no process alive.
  const alive = setInterval(() => {}, 1000);
  await eventLoop.forceFlush();
  clearInterval(alive);
  await finish(sdk);
}

main();
