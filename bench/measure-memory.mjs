// Promises: the heap over ten million promises and a million timers in one `asyncHooks` mode, or without the instrumentation ('nothing'), in one
// fresh process, as JSON on stdout: `node --expose-gc bench/measure-memory.mjs <mode> <threshold>`.
import { setImmediate as nextIteration } from 'node:timers/promises';
import { context, ROOT_CONTEXT } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';

const MILLION = 1_000_000;
const PROMISES = 10 * MILLION;
const TIMERS = MILLION;
const TIMERS_AT_ONCE = 10_000;
const AWAITS_AT_ONCE = 5_000;

const [mode, thresholdMillis] = [process.argv[2], Number(process.argv[3])];
/** @type {{ label: string, bytes: number }[]} */
const looks = [];

context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
const instrumentation = mode === 'nothing' ? undefined : await instrument();

// Compiled code, pools and histograms come into being once: not growth.
await makePromises(MILLION);
await makeTimers(TIMERS / 10);
await look('after warm-up');
for (let made = MILLION; made <= PROMISES; made += MILLION) {
  await makePromises(MILLION);
  await look(`${made / MILLION} M promises`);
}
await makeTimers(TIMERS);
await look(`${TIMERS / MILLION} M timers`);
instrumentation?.disable();
process.stdout.write(JSON.stringify(looks));

/** The built package, found by its own name as a user's import would. */
async function instrument() {
  const { EventLoopInstrumentation } = await import('opentelemetry-instrumentation-event-loop');
  return new EventLoopInstrumentation({ asyncHooks: mode, thresholdMillis });
}

/** One promise per turn for the call, awaited in the context of a scope as a request's would be. */
async function makePromises(/** @type {number} */ count) {
  const resolved = async () => {};
  for (let made = 0; made < count; made += AWAITS_AT_ONCE) {
    await context.with(ROOT_CONTEXT, async () => {
      for (let i = 0; i < AWAITS_AT_ONCE; i++) await resolved();
    });
    await nextIteration(); // never long enough to be a block
  }
}

async function makeTimers(/** @type {number} */ count) {
  for (let made = 0; made < count; made += TIMERS_AT_ONCE) {
    await new Promise((resolve) => {
      let left = TIMERS_AT_ONCE;
      const due = () => {
        if (--left === 0) resolve(undefined);
      };
      for (let i = 0; i < TIMERS_AT_ONCE; i++) setTimeout(due, 1);
    });
  }
}

async function look(/** @type {string} */ label) {
  await nextIteration();
  globalThis.gc();
  globalThis.gc(); // what the first one's finalizers let go
  looks.push({ label, bytes: process.memoryUsage().heapUsed });
}
