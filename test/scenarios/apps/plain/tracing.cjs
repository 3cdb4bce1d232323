// An SDK that the application starts itself, as it always has: its spans go to standard output.
const { HttpInstrumentation } = require('@opentelemetry/instrumentation-http');
const { NodeSDK } = require('@opentelemetry/sdk-node');
const { SimpleSpanProcessor } = require('@opentelemetry/sdk-trace');

const exporter = {
  export(spans, done) {
    for (const span of spans) {
      const { name, kind, attributes } = span;
      const { traceId } = span.spanContext();
      const code = attributes['code.function.name'];
      const stall = attributes['event_loop.stall.duration'];
      console.log(`span ${JSON.stringify({ name, kind, traceId, code, stall })}`);
    }
    done({ code: 0 });
  },
  async forceFlush() {},
  async shutdown() {},
};

new NodeSDK({
  spanProcessors: [new SimpleSpanProcessor({ exporter })],
  instrumentations: [new HttpInstrumentation()],
}).start();
