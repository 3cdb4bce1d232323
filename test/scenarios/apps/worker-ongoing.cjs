// A worker thread, and not the main thread, is blocked until it is killed.
const { isMainThread, Worker } = require('node:worker_threads');

async function work() {
  const { trace } = require('@opentelemetry/api');
  const { EventLoopInstrumentation } = require('opentelemetry-instrumentation-event-loop');
  const { startSdk } = require('./support/telemetry.cjs');
  const eventLoop = new EventLoopInstrumentation({ unfinishedAfterMillis: 1500 });
  startSdk({ instrumentations: [eventLoop] });
  setInterval(() => {}, 1000);
  await eventLoop.ready();

  function resizeForEver() {
    for (;;) Math.random();
  }
  setTimeout(() => trace.getTracer('worker').startActiveSpan('job', resizeForEver));
}

if (isMainThread) new Worker(__filename, { name: 'resizer' });
else work();
