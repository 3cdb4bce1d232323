// A block of 150 ms, which everything is set up for; unless it is told to start the SDK only after it.
const { EventLoopInstrumentation } = require('opentelemetry-instrumentation-event-loop');
const { startSdk, work } = require('./telemetry.cjs');

const [when = 'before'] = process.argv.slice(2);
const eventLoop = new EventLoopInstrumentation();
if (when === 'before') startSdk(eventLoop);
setTimeout(async () => {
  work(150);
  if (when === 'before') return;
  await eventLoop.forceFlush();
  startSdk(eventLoop);
}, 100);
