// The process is suspended, or waits, in the middle of JavaScript. The argument says which.
const { execFileSync } = require('node:child_process');
const fs = require('node:fs');
const { trace } = require('@opentelemetry/api');
const {
  EventLoopInstrumentation,
  EventLoopSpanProcessor,
} = require('opentelemetry-instrumentation-event-loop');
const { running } = require('../../support/thread-times.cjs');
const telemetry = require('./support/telemetry.cjs');
const { alone, eventLoopConfig, main, ready, startSdk, truthOf, wait } = telemetry;

const eventLoop = new EventLoopInstrumentation(eventLoopConfig());
const sdk = startSdk({
  instrumentations: [eventLoop],
  processors: [new EventLoopSpanProcessor()],
});

/** A stop shows as a jump of the clock. */
const STOPPED_MILLIS = 300;

/** Works, a little at a time, until the process was stopped in the middle of it. */
function workUntilStopped() {
  let last = performance.now();
  fs.writeSync(1, 'working\n');
  for (;;) {
    const now = performance.now();
    if (now - last > STOPPED_MILLIS) return;
    last = now;
  }
}

const scenarios = {
  /** The signal comes within a callback that would be too short to be a block. */
  stopped: workUntilStopped,
  'stopped and busy'() {
    // Until a stack sample shows that it runs.
    for (const goesOn = running(100); goesOn(); );
    workUntilStopped();
    for (const goesOn = running(200); goesOn(); );
  },
  'stopped at its start'() {
    workUntilStopped();
    for (const goesOn = running(200); goesOn(); );
  },
  /** In the next callback of the same iteration. */
  async 'stopped before a span ends'() {
    const span = trace.getTracer('service').startSpan('under way');
    await wait(20);
    setImmediate(workUntilStopped);
    setImmediate(() => span.end());
  },
  'synchronous I/O'() {
    execFileSync('sleep', ['0.7']);
  },
};

main(sdk, async () => {
  await ready(eventLoop);
  await alone(() => truthOf(process.argv[2], scenarios[process.argv[2]], { waits: true }));
});
