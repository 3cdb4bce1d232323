// The worker thread of `/report`: it has an SDK and an event loop of its own, which blocks while
// the one of the main thread goes on.
require('./telemetry.cjs');
const { parentPort } = require('node:worker_threads');
const { context, propagation, trace } = require('@opentelemetry/api');

const tracer = trace.getTracer('demo-service');

/** As slow as the nested loop of the service: it looks for the parent of each row. */
function renderReport(howMany) {
  const rows = Array.from({ length: howMany }, (_, i) => ({
    id: `row-${i}`,
    parentId: `row-${i >> 1}`,
  }));
  const lines = rows.map(
    (row) => `${row.id} of ${rows.find((other) => other.id === row.parentId).id}`,
  );
  return lines.join('\n').length;
}

parentPort.on('message', ({ headers, rows }) => {
  context.with(propagation.extract(context.active(), headers), () => {
    tracer.startActiveSpan('render report', (span) => {
      const length = renderReport(rows);
      span.end();
      parentPort.postMessage(length);
    });
  });
});
