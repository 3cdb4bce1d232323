// A block of 300 ms, once everything is ready for it. What differs is how the SDK is started.
const { EventLoopInstrumentation } = require('opentelemetry-instrumentation-event-loop');
const { startSdk, work } = require('./telemetry.cjs');

const [how] = process.argv.slice(2);

async function main() {
  const alive = setInterval(() => {}, 1000);
  const eventLoop = new EventLoopInstrumentation();
  if (how !== 'the SDK after the block') startSdk(eventLoop);
  await eventLoop.ready();
  setTimeout(async () => {
    work(300);
    await eventLoop.forceFlush();
    clearInterval(alive);
    if (how === 'the SDK after the block') startSdk(eventLoop);
  }, 1);
}

main();
