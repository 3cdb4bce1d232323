// An ES module that takes long to start, before and after its top-level await.
import { EventLoopInstrumentation } from 'opentelemetry-instrumentation-event-loop';
import telemetry from './support/telemetry.cjs';

const { eventLoopConfig, finish, startSdk, truthOf, wait, work } = telemetry;

const sdk = startSdk({ instrumentations: [new EventLoopInstrumentation(eventLoopConfig())] });

truthOf('module', () => work(250));
await null;
truthOf('after an await', () => work(250));
await wait(100);
await finish(sdk);
