// A block of 150 ms, once everything is ready to see it; unless it is told to start the SDK only after it.
const { EventLoopInstrumentation } = require('opentelemetry-instrumentation-event-loop');
const { startSdk, work } = require('./telemetry.cjs');

const [when = 'before'] = process.argv.slice(2);

async function main() {
  const alive = setInterval(() => {}, 1000);
  const eventLoop = new EventLoopInstrumentation();
  if (when === 'before') startSdk(eventLoop);
  await eventLoop.ready();
  setTimeout(async () => {
    work(150);
    clearInterval(alive);
    await eventLoop.forceFlush();
    if (when === 'after') startSdk(eventLoop);
  }, 1);
}

main();
