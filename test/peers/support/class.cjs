// The instrumentation as it is by default, without an SDK. Loaded by `--require`.
const { EventLoopInstrumentation } = require('opentelemetry-instrumentation-event-loop');

new EventLoopInstrumentation();
