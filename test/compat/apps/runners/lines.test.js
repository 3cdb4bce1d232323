// Under jest with its default transform. The test fails: its message is read from outside.
const { expectNoBlocks } = require('opentelemetry-instrumentation-event-loop/testing');
const { hashRow } = require('./report.js');

test('fails', () => expectNoBlocks(() => hashRow(300), { thresholdMillis: 50 }));

const baseline = process.env.RUNNER_BASELINE;
test.each(Array.from({ length: 20 }, (_, i) => i))('baseline %i', () =>
  expectNoBlocks(() => hashRow(150), { baseline, name: 'rows', thresholdMillis: 75 }),
);
