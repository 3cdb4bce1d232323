// A job that knows nothing of OpenTelemetry: it works, and ends by itself.
const { work } = require('./telemetry.cjs');

setTimeout(() => {
  work(300);
  console.log('done');
}, 200);
