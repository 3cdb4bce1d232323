// Under jest with its default transform. The test fails: its message is read from outside.
const { expectNoBlocks } = require('opentelemetry-instrumentation-event-loop/testing');
const { hashRow } = require('./report.js');

test('fails', () => expectNoBlocks(() => hashRow(300), { thresholdMillis: 50 }));
