// A program without a test runner: updates a baseline again and again, beside others of its kind.
import { expectNoBlocks, recordBlocks } from 'opentelemetry-instrumentation-event-loop/testing';
import threadTimes from '../../../../support/thread-times.cjs';

const { runDelayMillis } = threadTimes;
const [baseline, id, times] = process.argv.slice(2);

/** For so long, without the time in which the machine gave the thread no CPU. */
function hashRow() {
  const delay = runDelayMillis() ?? 0;
  const start = performance.now();
  while (performance.now() < start + 30 + (runDelayMillis() ?? 0) - delay);
}

for (let i = 0; i < Number(times); i++) {
  const options = { baseline, name: `${id} ${i}`, updateBaseline: true, thresholdMillis: 15 };
  await expectNoBlocks(hashRow, options);
}
const blocks = await recordBlocks(hashRow, { thresholdMillis: 15 });
for (const block of blocks) console.log(JSON.stringify(block));
