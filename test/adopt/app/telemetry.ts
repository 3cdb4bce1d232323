import { HttpInstrumentation } from '@opentelemetry/instrumentation-http';
import { NodeSDK } from '@opentelemetry/sdk-node';
import { EventLoopInstrumentation } from 'opentelemetry-instrumentation-event-loop';

const sdk = new NodeSDK({
  instrumentations: [new HttpInstrumentation(), new EventLoopInstrumentation()],
});
sdk.start();
process.once('beforeExit', () => sdk.shutdown());
