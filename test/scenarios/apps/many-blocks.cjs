// More short blocks, one after the other, than there is a budget for.
const { running } = require('../../support/thread-times.cjs');
const { main, note, ready, startInstrumented, wait } = require('./support/telemetry.cjs');

const { eventLoop, sdk } = startInstrumented({ thresholdMillis: 10, maxSpansPerMinute: 10_000 });

const BLOCKS = 200;
const BLOCK_MILLIS = 14;
/** What was used is counted once a second. */
const COUNTED_MILLIS = 1200;

function shortBlock() {
  for (const goesOn = running(BLOCK_MILLIS); goesOn(); );
}

main(sdk, async () => {
  await ready(eventLoop);
  for (let i = 0; i < BLOCKS; i++) {
    await wait(1);
    shortBlock();
  }
  const { user, system } = process.cpuUsage();
  note('cpuMillis', (user + system) / 1e3);
  await wait(COUNTED_MILLIS);
  note('health', eventLoop.health(5000));
});
