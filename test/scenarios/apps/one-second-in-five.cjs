// One second of work in five: what health() says, and what the mean of Node's own histogram of
// delays says.
const { monitorEventLoopDelay } = require('node:perf_hooks');
const { EventLoopInstrumentation } = require('opentelemetry-instrumentation-event-loop');
const { block, eventLoopConfig, finish, note, startSdk, wait } = require('./support/telemetry.cjs');

const eventLoop = new EventLoopInstrumentation(eventLoopConfig());
const sdk = startSdk({ instrumentations: [eventLoop] });

async function main() {
  const delays = monitorEventLoopDelay({ resolution: 10 });
  delays.enable();
  await wait(1500);
  block('one second', 1000);
  await wait(2000);
  note('health', { ...eventLoop.health(), meanDelayMillis: delays.mean / 1e6 });
  delays.disable();
  await finish(sdk);
}

main();
