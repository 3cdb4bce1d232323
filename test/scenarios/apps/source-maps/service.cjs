// One block in TypeScript that was bundled and minified. Argument: the bundle.
const { running } = require('../../../support/thread-times.cjs');
const { alone, inSpan, main, startInstrumented } = require('../support/telemetry.cjs');

const { eventLoop: instrumentation, sdk } = startInstrumented();
const { handleRequest } = require(process.argv[2]);

main(sdk, async () => {
  await alone(() => inSpan('request', () => handleRequest(running(300))));
  // The first block of a file waits for its map.
  await instrumentation.forceFlush();
});
