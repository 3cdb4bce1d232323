// Without layers: the function's bundle has the SDK. deploy/lambda has a layer instead.
import { trace } from '@opentelemetry/api';
import { NodeSDK } from '@opentelemetry/sdk-node';
import { EventLoopInstrumentation } from 'opentelemetry-instrumentation-event-loop';

const eventLoop = new EventLoopInstrumentation({ requireParentSpan: true });
new NodeSDK({ instrumentations: [eventLoop] }).start();
const provider = trace.getTracerProvider().getDelegate();

/** A span for each invocation; everything is sent before Lambda freezes the process. */
export function traced(name, handler) {
  return async (event) => {
    try {
      return await trace.getTracer(name).startActiveSpan(name, { kind: 1 }, async (span) => {
        try {
          return await handler(event);
        } finally {
          span.end();
        }
      });
    } finally {
      await eventLoop.forceFlush(); // the spans of the last blocks are made
      await provider.forceFlush();
    }
  };
}
