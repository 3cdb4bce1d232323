// Uses so much CPU, however long that takes: in a process that is starved or throttled from the
// moment on at which the test says so.
const { readFileSync } = require('node:fs');
const { once } = require('node:events');
const { EventLoopInstrumentation } = require('opentelemetry-instrumentation-event-loop');
const telemetry = require('./support/telemetry.cjs');
const { alone, eventLoopConfig, main, note, ready, startSdk, truthOf, wait } = telemetry;

// Of the time without a CPU, what lies between a block and the reading before or after it is not
// subtracted: up to a beat each. A block may take long: that is no ongoing one to be reported on
// standard error.
const config = eventLoopConfig({
  thresholdMillis: 50,
  lagIntervalMillis: 10,
  unfinishedAfterMillis: 0,
});
const eventLoop = new EventLoopInstrumentation(config);
const sdk = startSdk({ instrumentations: [eventLoop] });

const counted = () =>
  readFileSync('/proc/thread-self/schedstat', 'latin1')
    .split(' ')
    .map((nanos) => nanos / 1e6);

let hash = 0;
/** Until the thread has used so much CPU. The kernel counts it in steps of up to 4 ms. */
function useCpu(millis) {
  const [ranBefore] = counted();
  do for (let i = 0; i < 20_000; i++) hash = Math.imul(hash ^ i, 0x01000193);
  while (counted()[0] - ranBefore < millis);
}

main(sdk, async () => {
  await ready(eventLoop);
  process.stdout.write('ready\n');
  await once(process.stdin, 'data');
  await alone(() => truthOf('15 ms of CPU', () => useCpu(15)));
  await alone(() => truthOf('120 ms of CPU', () => useCpu(120)));
  await wait(100); // at least one beat
  note('waited for a CPU', counted()[1]);
  process.stdout.write('done\n');
  process.stdin.pause();
});
