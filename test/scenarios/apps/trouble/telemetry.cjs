// The SDK as an application sets it up, with its spans on standard output: a line each.
const { NodeSDK } = require('@opentelemetry/sdk-node');
const { SimpleSpanProcessor } = require('@opentelemetry/sdk-trace');
const { running } = require('../../../support/thread-times.cjs');

const exporter = {
  export(spans, done) {
    for (const { name, kind, duration, parentSpanContext, attributes } of spans) {
      const millis = duration[0] * 1e3 + duration[1] / 1e6;
      const line = { name, kind, millis, parent: parentSpanContext?.spanId, attributes };
      console.log(`span ${JSON.stringify(line)}`);
    }
    done({ code: 0 });
  },
  async forceFlush() {},
  async shutdown() {},
};

/** Shut down if the application has nothing left to do. */
exports.startSdk = (...instrumentations) => {
  const sdk = new NodeSDK({
    autoDetectResources: false,
    metricReaders: [],
    spanProcessors: [new SimpleSpanProcessor({ exporter })],
    instrumentations,
  });
  sdk.start();
  process.once('beforeExit', () => sdk.shutdown());
};

/** Blocks the event loop. */
exports.work = function work(millis) {
  const goesOn = running(millis);
  let hash = 0;
  while (goesOn()) for (let i = 0; i < 100_000; i++) hash = Math.imul(hash ^ i, 0x01000193);
  return hash;
};
