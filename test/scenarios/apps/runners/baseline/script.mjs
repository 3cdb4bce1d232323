// A program without a test runner: updates a baseline again and again, beside others of its kind.
import { expectNoBlocks, recordBlocks } from 'opentelemetry-instrumentation-event-loop/testing';
import threadTimes from '../../../../support/thread-times.cjs';

const { running } = threadTimes;
const [baseline, id, times] = process.argv.slice(2);

function hashRow() {
  let hash = 0;
  for (const goesOn = running(30); goesOn(); )
    for (let i = 0; i < 10_000; i++) hash = Math.imul(hash ^ i, 0x01000193);
  return hash;
}

for (let i = 0; i < Number(times); i++) {
  const options = { baseline, name: `${id} ${i}`, updateBaseline: true, thresholdMillis: 15 };
  await expectNoBlocks(hashRow, options);
}
const blocks = await recordBlocks(hashRow, { thresholdMillis: 15 });
for (const block of blocks) console.log(JSON.stringify(block));
