/**
 * A process that blocks when it is told to, and reports it as its tool does by default: by OTLP, to
 * Sentry, on stdout, or in profiles.
 * Started by reports.mjs: `node bench/lifetime/blocker.cjs <tool> <file>`, with an IPC channel. It
 * writes the start of each block to the file.
 */
const { writeFileSync } = require('node:fs');
const { join } = require('node:path');
const { createRequire } = require('node:module');
const { SUBJECTS } = require('../peers/subjects.cjs');

const THRESHOLD_MILLIS = 100;
const [tool, file] = process.argv.slice(2);
const peer = createRequire(join(__dirname, '../peers/package/package.json'));

const TOOLS = {
  'this package'() {
    const { HttpInstrumentation } = require('@opentelemetry/instrumentation-http');
    const { NodeSDK } = require('@opentelemetry/sdk-node');
    const { EventLoopInstrumentation } = require('opentelemetry-instrumentation-event-loop');
    new NodeSDK({
      instrumentations: [new HttpInstrumentation(), new EventLoopInstrumentation()],
    }).start();
  },
  // As its README says.
  blocked() {
    peer('blocked')((millis) => console.log('BLOCKED FOR %sms', millis | 0), {
      threshold: THRESHOLD_MILLIS,
    });
  },
  // As its README says.
  'blocked-at'() {
    peer('blocked-at')(
      (time, stack) => console.log(`Blocked for ${time}ms, operation started here:`, stack),
      { threshold: THRESHOLD_MILLIS },
    );
  },
};

function startTool() {
  if (TOOLS[tool]) TOOLS[tool]();
  else
    SUBJECTS[tool].start({ thresholdMillis: THRESHOLD_MILLIS, report() {}, dsn: process.env.DSN });
}

function blockEventLoop(millis) {
  const end = performance.now() + millis;
  let hash = 0;
  while (performance.now() < end) hash = (hash * 31 + 1) | 0;
  return hash;
}

startTool();
process.on('message', (millis) => {
  setTimeout(() => {
    writeFileSync(file, String(performance.timeOrigin + performance.now()));
    blockEventLoop(millis ?? Number.POSITIVE_INFINITY);
    process.send('ended');
  }, 5);
});
process.on('disconnect', () => process.exit());
process.send('ready');
