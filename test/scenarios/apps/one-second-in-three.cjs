// One second of work in three: what health() says, and what the mean of Node's own histogram of
// delays says.
const { monitorEventLoopDelay } = require('node:perf_hooks');
const { block, main, note, startInstrumented, wait } = require('./support/telemetry.cjs');

const { eventLoop, sdk } = startInstrumented();

main(sdk, async () => {
  const delays = monitorEventLoopDelay({ resolution: 10 });
  delays.enable();
  await wait(1000);
  block('one second', 1000);
  await wait(1000);
  note('health', { ...eventLoop.health(), meanDelayMillis: delays.mean / 1e6 });
  delays.disable();
});
