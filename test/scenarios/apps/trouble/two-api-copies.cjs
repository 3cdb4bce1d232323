// A second copy of @opentelemetry/api, of another version, which is found from the folder that is
// given.
const { createRequire } = require('node:module');
const { trace } = require('@opentelemetry/api');
const { startSdk, work } = require('./telemetry.cjs');

const [folder, what] = process.argv.slice(2);
const requireThere = createRequire(`${folder}/`);

if (what === 'another copy has registered a logger') {
  const { DiagConsoleLogger, diag } = requireThere('@opentelemetry/api');
  diag.setLogger(new DiagConsoleLogger());
  const { EventLoopInstrumentation } = require('opentelemetry-instrumentation-event-loop');
  startSdk(new EventLoopInstrumentation());
} else {
  const { EventLoopInstrumentation } = requireThere('opentelemetry-instrumentation-event-loop');
  const eventLoop = new EventLoopInstrumentation();
  if (what === 'this package finds it, in the list of the SDK') startSdk(eventLoop);
  else startSdk();
}

// What is registered is checked once a second, on the next beat of an idle event loop.
setTimeout(() => {
  trace.getTracer('app').startActiveSpan('request', (span) => {
    work(300);
    span.end();
  });
}, 1500);
