// One block, in a package that a middleware of the app has called. Argument: the folder of the app.
const { subscribe } = require('node:diagnostics_channel');
const path = require('node:path');
const { BLOCK_CHANNEL } = require('opentelemetry-instrumentation-event-loop');
const { running } = require('../../support/thread-times.cjs');
const { main, note, ready, startInstrumented } = require('./support/telemetry.cjs');
const { readSince, startCounting } = require('./support/count-reads.cjs');

const { eventLoop: instrumentation, sdk } = startInstrumented();
const serve = require(path.join(process.argv[2], 'app.js'));

subscribe(BLOCK_CHANNEL, ({ block: { startTimeMillis, durationMillis } }) =>
  note('reportedAfterMillis', Date.now() - startTimeMillis - durationMillis),
);

main(sdk, async () => {
  await ready(instrumentation);
  startCounting();
  await new Promise((resolve) => {
    setTimeout(serve({ goesOn: running(300), done: resolve }), 1);
  });
  // A process that runs out of work waits for 100 ms only.
  const alive = setInterval(() => {}, 1000);
  await instrumentation.forceFlush();
  clearInterval(alive);
  console.log(`read ${JSON.stringify(readSince())}`);
});
