// A debugger is attached, and does not interfere.
const inspector = require('node:inspector');
const { alone, blockInSpan, finish, startInstrumented } = require('./support/telemetry.cjs');

const { sdk } = startInstrumented();

process.stdout.write(`inspector ${inspector.url()}\n`);
process.stdin.once('data', async () => {
  await alone(() => blockInSpan('job', 200));
  process.stdout.write('blocked\n');
});
process.stdin.once('end', () => finish(sdk));
