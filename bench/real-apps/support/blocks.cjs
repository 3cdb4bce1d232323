/**
 * Preloaded: writes every block that this package publishes to the file in REAL_APPS_BLOCKS, one a
 * line, as JSON, with the trace that it is attributed to.
 */
const { appendFile } = require('node:fs');
const { subscribe } = require('node:diagnostics_channel');

/** As `@opentelemetry/api` makes it: any copy of it reads the same span. */
const SPAN = Symbol.for('OpenTelemetry Context Key SPAN');
/** An exporter's context has the span of a request, but blocks in it get no span. */
const SUPPRESS = Symbol.for('OpenTelemetry SDK Context Key SUPPRESS_TRACING');

subscribe('opentelemetry-instrumentation-event-loop:block', ({ block, context }) => {
  const isSuppressed = context.getValue(SUPPRESS) === true;
  const traceId = isSuppressed ? undefined : context.getValue(SPAN)?.spanContext().traceId;
  const line = JSON.stringify({ ...block, traceId, pid: process.pid });
  appendFile(process.env.REAL_APPS_BLOCKS, `${line}\n`, () => {});
});
