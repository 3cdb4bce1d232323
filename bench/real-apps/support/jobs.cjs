/**
 * Preloaded beside a consumer: measures each job itself, and writes it, and what this package says
 * that each request waited, to the file in REAL_APPS_JOBS, one a line, as JSON. The event loop is
 * never idle for long, as in a busy service.
 */
const { appendFileSync } = require('node:fs');
const { subscribe } = require('node:diagnostics_channel');

const now = () => performance.timeOrigin + performance.now();
const write = (message) =>
  appendFileSync(process.env.REAL_APPS_JOBS, `${JSON.stringify(message)}\n`);

globalThis.measureJob = (job, work) => {
  const start = now();
  work(job.millis);
  write({ job: job.id, start, end: now() });
};
subscribe('opentelemetry-instrumentation-event-loop:request', (request) => {
  const waits = request.waits().map(({ block, millis, isQueued }) => ({
    start: block.startTimeMillis,
    millis,
    isQueued,
  }));
  if (waits.length > 0) write({ ...request, functions: undefined, waits });
});
setInterval(() => {}, 1).unref();
