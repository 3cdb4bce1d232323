// The instrumentation and the SDK do not come and go together. The argument says how.
const { context } = require('@opentelemetry/api');
const { AsyncLocalStorageContextManager } = require('@opentelemetry/context-async-hooks');
// Loading it later would block the event loop.
require('@opentelemetry/sdk-node');
const { EventLoopInstrumentation } = require('opentelemetry-instrumentation-event-loop');
const telemetry = require('./support/telemetry.cjs');
const { alone, block, blockInSpan, eventLoopConfig, finish, note, startNodeSdk, unixTime, wait } =
  telemetry;

const blockAlone = (label) => alone(() => blockInSpan(label, 150));

/** What changed underneath is checked on a beat. */
const SEVERAL_BEATS_MILLIS = 100;

const lifecycles = {
  async 'SDK started late'() {
    const instrumentation = new EventLoopInstrumentation(eventLoopConfig());
    await blockAlone('without an SDK');
    await instrumentation.forceFlush();
    const sdk = startNodeSdk({ instrumentations: [instrumentation] });
    await wait(SEVERAL_BEATS_MILLIS);
    await blockAlone('with an SDK');
    await finish(sdk);
  },

  async 'SDK never started'() {
    new EventLoopInstrumentation(eventLoopConfig());
    await blockAlone('without an SDK');
    await blockAlone('still without an SDK');
    note('finished', unixTime());
  },

  async 'SDK shut down'() {
    const sdk = startNodeSdk({
      instrumentations: [new EventLoopInstrumentation(eventLoopConfig())],
    });
    await blockAlone('with an SDK');
    await finish(sdk);
    await blockAlone('after the SDK');
    await wait(1500); // a second is how long it takes until the meter provider is checked
    await blockAlone('long after the SDK');
    note('finished', unixTime());
  },

  async 'SDK shut down at once'() {
    const sdk = startNodeSdk({
      instrumentations: [new EventLoopInstrumentation(eventLoopConfig())],
    });
    await alone(() => {
      blockInSpan('right before', 150);
      return sdk.shutdown();
    });
    note('finished', unixTime());
  },

  async 'not enabled'() {
    const instrumentation = new EventLoopInstrumentation(eventLoopConfig({ enabled: false }));
    const sdk = startNodeSdk({ instrumentations: [instrumentation] });
    await blockAlone('before enable');
    instrumentation.enable();
    await blockAlone('after enable');
    await finish(sdk);
  },

  async 'context manager replaced'() {
    const first = new AsyncLocalStorageContextManager().enable();
    const firstWith = first.with;
    const instrumentation = new EventLoopInstrumentation(eventLoopConfig());
    const sdk = startNodeSdk({ contextManager: first, instrumentations: [instrumentation] });
    await blockAlone('first manager');
    context.disable();
    const second = new AsyncLocalStorageContextManager().enable();
    context.setGlobalContextManager(second);
    await wait(SEVERAL_BEATS_MILLIS);
    await blockAlone('second manager');
    note('first is left alone', first.with === firstWith);
    context.disable();
    await wait(SEVERAL_BEATS_MILLIS);
    await alone(() => block('no manager', 150));
    await finish(sdk);
  },
};

lifecycles[process.argv[2]]();
