// A product that registers a tracer provider with a copy of the api of its own.
const { trace } = require('@opentelemetry/api');
const tracer = {
  startSpan: () => trace.wrapSpanContext({ traceId: '1', spanId: '1', traceFlags: 1 }),
};
console.log(`registered: ${trace.setGlobalTracerProvider({ getTracer: () => tracer })}`);
require('./http-service.cjs');
