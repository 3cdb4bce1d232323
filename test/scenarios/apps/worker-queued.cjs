// A pool sends a worker its tasks before that has loaded: its event loop does not turn until all of
// them are done. Both threads have the instrumentation, the main thread idles.
const { subscribe } = require('node:diagnostics_channel');
const { isMainThread, parentPort, Worker } = require('node:worker_threads');
const {
  BLOCK_CHANNEL,
  EventLoopInstrumentation,
} = require('opentelemetry-instrumentation-event-loop');
const { running } = require('../../support/thread-times.cjs');

const TASKS = 6;
const BLOCK_MILLIS = 250;

const eventLoop = new EventLoopInstrumentation({ thresholdMillis: 100, unfinishedAfterMillis: 0 });

if (isMainThread) {
  const worker = new Worker(__filename, { name: 'resizer' });
  for (let i = 0; i < TASKS; i++) worker.postMessage('resize');
  worker.postMessage('end');
  worker.once('message', (names) => console.log(JSON.stringify(names)));
} else {
  const names = [];
  let hash = 0;
  const resizeImages = () => {
    const goesOn = running(BLOCK_MILLIS);
    while (goesOn()) for (let i = 0; i < 100_000; i++) hash = Math.imul(hash ^ i, 0x01000193);
  };
  subscribe(BLOCK_CHANNEL, ({ block }) => names.push(block.code?.functionName));
  parentPort.on('message', async (task) => {
    if (task === 'resize') {
      resizeImages();
      return;
    }
    await eventLoop.forceFlush();
    parentPort.postMessage(names);
    parentPort.close();
  });
}
