// A debugger is attached, and does not interfere.
const inspector = require('node:inspector');
const { trace } = require('@opentelemetry/api');
const { EventLoopInstrumentation } = require('opentelemetry-instrumentation-event-loop');
const { alone, block, eventLoopConfig, finish, startSdk } = require('./support/telemetry.cjs');

const sdk = startSdk({ instrumentations: [new EventLoopInstrumentation(eventLoopConfig())] });

process.stdout.write(`inspector ${inspector.url()}\n`);
process.stdin.once('data', async () => {
  await alone(() =>
    trace.getTracer('inspected').startActiveSpan('job', (span) => {
      block('job', 200);
      span.end();
    }),
  );
  process.stdout.write('blocked\n');
});
process.stdin.once('end', () => finish(sdk));
