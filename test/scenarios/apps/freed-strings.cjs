// Starts the instrumentation right after it has freed strings of 20 MB, which V8 keeps for the next
// heap of the process: that of the watchdog thread. To be run with NEW_SPACE_FLAGS.
const v8 = require('node:v8');
const { performance } = require('node:perf_hooks');
const { block, finish, ready, startInstrumented } = require('./support/telemetry.cjs');

const rows = Array.from({ length: 400_000 }, (_, id) => ({
  id,
  name: `somebody ${id}`,
  amount: 1.5,
}));
const stringsInNewSpace = () =>
  v8.getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_large_object_space')
    .space_used_size;
// Until a garbage collection has just freed some; the second one, since the first keeps the new.
// Node.js 20 has none of them in the new space.
const until = performance.now() + 2000;
for (let freed = 0; freed < 2 && performance.now() < until; ) {
  const before = stringsInNewSpace();
  JSON.stringify(rows);
  if (stringsInNewSpace() < before) freed++;
}
// The thread's own limits apply to its new space.
for (const flag of ['max', 'min']) v8.setFlagsFromString(`--${flag}-semi-space-size=0`);

const { eventLoop: instrumentation, sdk } = startInstrumented();

async function main() {
  await ready(instrumentation);
  setTimeout(() => {
    block('with a watchdog thread', 150);
    finish(sdk);
  }, 1);
}

main();
