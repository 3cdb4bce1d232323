// A worker thread with an SDK of its own blocks its own loop; the main thread, instrumented as
// well, stays free.
const { once } = require('node:events');
const { isMainThread, threadId, Worker } = require('node:worker_threads');
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

const sdk = startSdk({ instrumentations: [new EventLoopInstrumentation(eventLoopConfig())] });

async function main() {
  if (isMainThread) {
    await once(new Worker(__filename), 'exit');
  } else {
    note('worker thread', threadId);
    await alone(() =>
      trace.getTracer('worker').startActiveSpan('job', (span) => {
        block('job', 250);
        span.end();
      }),
    );
  }
  await finish(sdk);
}

main();
