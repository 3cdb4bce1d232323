// Two instances in one process. Each block is reported once, by the one that was enabled last.
const { EventLoopInstrumentation } = require('opentelemetry-instrumentation-event-loop');
const telemetry = require('./support/telemetry.cjs');
const { alone, block, eventLoopConfig, main, note, startSdk } = telemetry;

const reports = [];
const instance = (name, enabled) =>
  new EventLoopInstrumentation(eventLoopConfig({ enabled, blockHook: () => reports.push(name) }));

const first = instance('first', true);
const second = instance('second', true);
const third = instance('third', false);
const sdk = startSdk({ instrumentations: [first, second, third] });

main(sdk, async () => {
  await alone(() => block('both', 150));
  second.disable();
  await alone(() => block('second disabled', 150));
  third.enable();
  await alone(() => block('third enabled', 150));
  first.disable();
  await alone(() => block('first disabled', 150));
  third.disable();
  await alone(() => block('all disabled', 150));
  note('reports', reports);
});
