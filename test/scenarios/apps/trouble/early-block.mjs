// A block in the first second of an application that is an ES module, and one after it.
import { setTimeout as wait } from 'node:timers/promises';
import telemetry from './telemetry.cjs';

await wait(200);
telemetry.work(300);
await wait(1300);
telemetry.work(300);
