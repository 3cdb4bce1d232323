// A block in the process that runs `node --test`, long enough for stack samples. Loaded by
// `--require`.
const { running } = require('../../../support/thread-times.cjs');
const { EventLoopInstrumentation } = require('opentelemetry-instrumentation-event-loop');

const eventLoop = new EventLoopInstrumentation({ console: true, thresholdMillis: 50 });
// Not in the processes of the test files.
if (process.env.NODE_TEST_CONTEXT === undefined) {
  eventLoop.ready().then(() => setTimeout(block, 200));
}

function block() {
  for (const goesOn = running(300); goesOn(); );
  process.stderr.write('blocked\n');
}
