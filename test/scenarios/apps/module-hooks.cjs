// What the package loads and hooks, by the way in which it is used: `class`, `sdk` or `testing`.
// Prints it as JSON.
const Module = require('node:module');
const { running } = require('../../support/thread-times.cjs');

const NAME = 'opentelemetry-instrumentation-event-loop';
const HOOKS = /[\\/](require-in-the-middle|import-in-the-middle)[\\/]/;
const originals = [Module.prototype.require, Module._load, Module._resolveFilename];

const spin = (millis) => {
  for (const goesOn = running(millis); goesOn(); );
};

/** @type {Record<string, () => Promise<unknown>>} */
const WAYS = {
  async class() {
    const { EventLoopInstrumentation } = require(NAME);
    const eventLoop = new EventLoopInstrumentation({ thresholdMillis: 20 });
    await eventLoop.ready();
    const found = new Promise((resolve) => {
      require('node:diagnostics_channel').subscribe(`${NAME}:block`, ({ block }) => resolve(block));
    });
    setTimeout(spin, 1, 60);
    await eventLoop.forceFlush();
    return found;
  },
  async sdk() {
    const { NodeSDK } = require('@opentelemetry/sdk-node');
    const { EventLoopInstrumentation } = require(NAME);
    const sdk = new NodeSDK({
      autoDetectResources: false,
      metricReaders: [],
      spanProcessors: [],
      logRecordProcessors: [],
      instrumentations: [new EventLoopInstrumentation()],
    });
    sdk.start();
    await sdk.shutdown();
  },
  async testing() {
    const { recordBlocks } = await import(`${NAME}/testing`);
    const [block] = await recordBlocks(() => spin(60), { thresholdMillis: 20 });
    return block;
  },
};

const [way] = process.argv.slice(2);
// Nothing of the package keeps a process alive.
setTimeout(() => process.exit(1), 30_000);
WAYS[way]().then((block) => {
  const now = [Module.prototype.require, Module._load, Module._resolveFilename];
  console.log(
    JSON.stringify({
      hasBlock: block !== undefined,
      hooked: now.some((method, i) => method !== originals[i]),
      loaded: Object.keys(require.cache).filter((file) => HOOKS.test(file)).length,
      foreign: Object.keys(require.cache)
        .map(
          (file) =>
            /node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+)(?!.*node_modules)/.exec(file)?.[1],
        )
        .filter((name) => name !== undefined && name !== NAME && name !== '@opentelemetry/api')
        .length,
    }),
  );
  process.exit();
});
