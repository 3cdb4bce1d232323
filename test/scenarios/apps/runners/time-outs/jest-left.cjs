// Jest clears what is on the global object when a file has ended: here, during a recording.
const { expectNoBlocks } = require('opentelemetry-instrumentation-event-loop/testing');

test('hangs', () => expectNoBlocks(() => new Promise(() => {})), 300);
