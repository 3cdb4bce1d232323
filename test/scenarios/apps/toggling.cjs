// Enabled and disabled over and over, everywhere, in any order.
const { EventEmitter } = require('node:events');
const { context } = require('@opentelemetry/api');
const { AsyncLocalStorageContextManager } = require('@opentelemetry/context-async-hooks');
const { EventLoopInstrumentation } = require('opentelemetry-instrumentation-event-loop');
const telemetry = require('./support/telemetry.cjs');
const { alone, blockInSpan, eventLoopConfig, inSpan, main, note, startNodeSdk, wait } = telemetry;

const manager = new AsyncLocalStorageContextManager().enable();
const originalWith = manager.with;
const instrumentation = new EventLoopInstrumentation(eventLoopConfig());
const sdk = startNodeSdk({ contextManager: manager, instrumentations: [instrumentation] });

const blockAlone = (label) => alone(() => blockInSpan(label, 150));

function toggle(times) {
  for (let i = 0; i < times; i++) {
    instrumentation.disable();
    instrumentation.enable();
  }
}

main(sdk, async () => {
  await blockAlone('before');

  toggle(1000);
  await blockAlone('after a thousand times');

  for (let i = 0; i < 100; i++) {
    toggle(1);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await blockAlone('after a hundred turns');

  // in the middle of a callback, of a scope, of a tick, of a reaction
  await alone(() => {
    toggle(1);
    inSpan('scope', () => toggle(1));
    inSpan('scope left open', () => instrumentation.disable());
    process.nextTick(() => toggle(3));
    const emitter = context.bind(context.active(), new EventEmitter()).on('event', () => toggle(1));
    emitter.emit('event');
  });
  await alone(async () => {
    instrumentation.disable();
    await null;
    instrumentation.enable();
    await wait(1);
    instrumentation.enable();
    instrumentation.enable();
  });
  await blockAlone('after toggling inside of callbacks');

  await alone(() => {
    instrumentation.disable();
    instrumentation.disable();
  });
  note('with is restored', manager.with === originalWith && !Object.hasOwn(manager, 'with'));
  await blockAlone('while disabled');

  await alone(() => instrumentation.enable());
  await blockAlone('at the end');
  instrumentation.disable();
});
