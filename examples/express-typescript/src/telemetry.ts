import { ExpressInstrumentation } from '@opentelemetry/instrumentation-express';
import { HttpInstrumentation } from '@opentelemetry/instrumentation-http';
import { NodeSDK } from '@opentelemetry/sdk-node';
import { EventLoopInstrumentation } from 'opentelemetry-instrumentation-event-loop';

const sdk = new NodeSDK({
  instrumentations: [
    new HttpInstrumentation(),
    new ExpressInstrumentation(),
    new EventLoopInstrumentation({ thresholdMillis: 50 }),
  ],
});
sdk.start();
process.once('SIGTERM', () => sdk.shutdown().finally(() => process.exit()));
