// One block in an ES module.
import { trace } from '@opentelemetry/api';
import { EventLoopInstrumentation } from 'opentelemetry-instrumentation-event-loop';
import telemetry from './support/telemetry.cjs';

const { alone, block, eventLoopConfig, finish, startSdk } = telemetry;

const sdk = startSdk({ instrumentations: [new EventLoopInstrumentation(eventLoopConfig())] });

await alone(() =>
  trace.getTracer('one-block').startActiveSpan('job', (span) => {
    block('job', 200);
    span.end();
  }),
);
await finish(sdk);
