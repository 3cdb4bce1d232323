// An application that enables an instrumentation of its own while it is loaded, and disables it
// later: says whether a built-in is as Node.js made it then. That of /register is of another copy,
// the CommonJS module of the package.
import { setTimeout as wait } from 'node:timers/promises';
import { EventLoopInstrumentation } from 'opentelemetry-instrumentation-event-loop';

/** /register takes an ES module to be loaded by then. */
const LOADED_MILLIS = 1000;

const own = new EventLoopInstrumentation();
await wait(1.1 * LOADED_MILLIS);
own.disable();
console.log(String(JSON.parse).includes('[native code]') ? 'as Node.js made it' : 'wrapped');
