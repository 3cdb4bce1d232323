// One block in TypeScript that was bundled and minified. Argument: the bundle.
const { trace } = require('@opentelemetry/api');
const { EventLoopInstrumentation } = require('opentelemetry-instrumentation-event-loop');
const { running } = require('../../../support/thread-times.cjs');
const { alone, eventLoopConfig, finish, startSdk } = require('../support/telemetry.cjs');

const instrumentation = new EventLoopInstrumentation(eventLoopConfig());
const sdk = startSdk({ instrumentations: [instrumentation] });
const { handleRequest } = require(process.argv[2]);

async function main() {
  await alone(() =>
    trace.getTracer('source-maps').startActiveSpan('request', (span) => {
      handleRequest(running(300));
      span.end();
    }),
  );
  // The first block of a file waits for its map.
  await instrumentation.forceFlush();
  await finish(sdk);
}

main();
