// Under jest. The four tests that block have to fail: their messages are read from outside.
const guard = require('opentelemetry-instrumentation-event-loop/testing');
const { tests } = require('./tests.cjs');

for (const [name, timeout, run] of tests(guard)) test(name, run, timeout);
