// V8 ends code in the middle of each place where the application calls this package, or it calls
// the application. A block after each is to be reported as if nothing had happened. An async
// resource is not among them: Node.js itself ends the process if V8 ends code in its scope.
const { runInThisContext } = require('node:vm');
const { context, createContextKey, trace } = require('@opentelemetry/api');
const telemetry = require('./support/telemetry.cjs');
const {
  EventLoopInstrumentation,
  EventLoopSpanProcessor,
} = require('opentelemetry-instrumentation-event-loop');

const { alone, block, eventLoopConfig, inSpan, main, startSdk } = telemetry;
const ENDED_AFTER_MILLIS = 20;
/** Runs that end anywhere in code that calls all of these again and again. */
const RUNS_AT_RANDOM = 40;

let isEndless = false;
const spin = () => {
  while (isEndless);
};
const processor = new EventLoopSpanProcessor();
const instrumentation = new EventLoopInstrumentation(eventLoopConfig({ blockHook: spin }));
const sdk = startSdk({ instrumentations: [instrumentation], processors: [processor] });
const tracer = trace.getTracer('scenario');
const other = context.active().setValue(createContextKey('other'), 1);

const PLACES = {
  'a context scope': () => context.with(other, spin),
  'a span': () => tracer.startActiveSpan('half', (span) => spin(span.end())),
  'expected code': () => instrumentation.expectBlock(spin),
  'JSON.parse': () => JSON.parse(`[${'1,'.repeat(300)}1]`, spin),
  'JSON.stringify': () => JSON.stringify({ toJSON: spin }),
  'code in `vm`': () => runInThisContext('places.spin()', { timeout: 10_000 }),
  'a signal to itself': () => process.kill(process.pid, 'SIGWINCH') && spin(),
  health: () => instrumentation.health(1000) && spin(),
  'a flush': () => processor.forceFlush() && spin(),
};
globalThis.places = { ...PLACES, spin };

function endIn(expression, timeout) {
  try {
    runInThisContext(expression, { timeout });
  } catch (error) {
    if (error.code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
    return;
  }
  throw new Error(`${expression} has not been ended`);
}

const blockIn = (label) => inSpan(`around ${label}`, () => block(label, 150));

main(sdk, async () => {
  const keepAlive = setInterval(() => {}, 1000);
  await instrumentation.ready();
  for (const place of Object.keys(PLACES)) {
    await alone(() => {
      // A flush has something to report.
      if (place === 'a flush') blockIn('before a flush');
      isEndless = true;
      endIn(`places[${JSON.stringify(place)}]()`, ENDED_AFTER_MILLIS);
      isEndless = false;
    });
    await alone(() => blockIn(`after ${place}`));
  }
  for (let i = 0; i < RUNS_AT_RANDOM; i++) {
    // In a callback of its own: the context that V8 ended it in stays active until its end.
    await new Promise((resolve) => {
      setTimeout(() => {
        endIn('for (;;) for (const name in places) places[name]()', 3 + (i % 7));
        resolve();
      }, 1);
    });
  }
  await alone(() => blockIn('at last'));
  clearInterval(keepAlive);
});
