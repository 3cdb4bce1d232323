// Each request costs 8 ms. 100 of them a second can be served; 200 a second cannot, without a
// single long callback.
const { block, note, serve, startInstrumented, unixTime } = require('./support/telemetry.cjs');

/** A span cannot start before its parent; this is how long its block was. */
const blockHook = (span, { durationMillis }) => {
  note(`length ${span.spanContext().spanId}`, durationMillis);
  note(`reported ${span.spanContext().spanId}`, unixTime());
};
const { sdk } = startInstrumented({ blockHook });
const http = require('node:http');

const TASK_MILLIS = 8;

serve(
  http.createServer((request, response) => {
    // slow, so that the client has to open all of its connections
    if (request.url === '/warm-up') return setTimeout(() => response.end('warm'), 300);
    block('task', TASK_MILLIS);
    response.end('done');
  }),
  sdk,
);
