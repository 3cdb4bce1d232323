// A worker thread with an SDK of its own blocks its own loop; the main thread, instrumented as
// well, stays free.
const { once } = require('node:events');
const { isMainThread, threadId, Worker } = require('node:worker_threads');
const { alone, blockInSpan, main, note, startInstrumented } = require('./support/telemetry.cjs');

const { sdk } = startInstrumented();

main(sdk, async () => {
  if (isMainThread) {
    await once(new Worker(__filename), 'exit');
  } else {
    note('worker thread', threadId);
    await alone(() => blockInSpan('job', 250));
  }
});
