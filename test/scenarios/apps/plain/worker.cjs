// An application that knows nothing of OpenTelemetry: a worker of it blocks, and not its main
// thread.
const { isMainThread, Worker } = require('node:worker_threads');

/** Captures are under way by then; a stack sample is taken in it on a busy machine as well. */
const [SOON_MILLIS, BLOCK_MILLIS] = [500, 1500];

function resizeImages() {
  for (const until = performance.now() + BLOCK_MILLIS; performance.now() < until; );
}

if (isMainThread) new Worker(__filename);
else setTimeout(resizeImages, SOON_MILLIS);
