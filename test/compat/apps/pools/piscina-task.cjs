/** One task, in a worker thread of the pool, on the trace of the request. */
const { context, propagation, trace } = require('@opentelemetry/api');
const { startTelemetry } = require('./telemetry.cjs');

const shutdown = startTelemetry();
const { block, blockInSteps, warm } = require('./support/work.cjs');

const TASKS = { warm, handler: block, steps: blockInSteps, shutdown };

module.exports = ({ name, carrier }) => {
  const parent = propagation.extract(context.active(), carrier);
  const tracer = trace.getTracer('pool');
  return tracer.startActiveSpan(`task ${name}`, {}, parent, async (span) => {
    try {
      return await TASKS[name]();
    } finally {
      span.end();
    }
  });
};
