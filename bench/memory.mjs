// Promises: the heap stays flat over ten million promises and a million timers with the instrumentation on, in each
// `asyncHooks` mode, beside a process without it ('nothing'); exit code 1 when it grows by more than MAX_GROWTH_BYTES. Needs the build: `npm run build` first.
//
//   npm run bench:memory
//   npm run bench:memory -- --mode promises --threshold 1
import { spawnSync } from 'node:child_process';
import { setImmediate as nextIteration } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { context, ROOT_CONTEXT } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';

/** A tenth of a byte per promise: one pointer kept for each would be 80 MB. */
const MAX_GROWTH_BYTES = 1024 * 1024;
const MILLION = 1_000_000;
const PROMISES = 10 * MILLION;
const TIMERS = MILLION;
const TIMERS_AT_ONCE = 10_000;
const AWAITS_AT_ONCE = 5_000;

const { values: options } = parseArgs({
  options: {
    mode: { type: 'string', multiple: true, default: ['nothing', 'callbacks', 'promises', 'off'] },
    threshold: { type: 'string', default: '100' },
  },
});

// Each mode in a process of its own, with the garbage collector at hand.
if (globalThis.gc === undefined || options.mode.length > 1) {
  for (const mode of options.mode) {
    const self = [fileURLToPath(import.meta.url), '--mode', mode, '--threshold', options.threshold];
    const { status } = spawnSync(process.execPath, ['--expose-gc', ...self], { stdio: 'inherit' });
    if (status !== 0) process.exitCode = 1;
  }
} else {
  await weigh(options.mode[0]);
}

/** @param {string} mode */
async function weigh(mode) {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  const instrumentation = mode === 'nothing' ? undefined : await instrument(mode);
  console.log(`\nNode.js ${process.versions.node}, ${mode === 'nothing' ? mode : `asyncHooks: '${mode}'`}`);

  // Compiled code, pools and histograms come into being once: not growth.
  await makePromises(MILLION);
  await makeTimers(TIMERS / 10);
  const start = await heapUsed();
  print('after warm-up', start, start);

  for (let made = MILLION; made <= PROMISES; made += MILLION) {
    await makePromises(MILLION);
    print(`${made / MILLION} M promises`, await heapUsed(), start);
  }
  await makeTimers(TIMERS);
  const end = await heapUsed();
  print(`${TIMERS / MILLION} M timers`, end, start);

  instrumentation?.disable();
  const flat = end - start <= MAX_GROWTH_BYTES;
  console.log(`${flat ? 'flat' : 'NOT FLAT'}: at most ${kib(MAX_GROWTH_BYTES)} KiB growth allowed`);
  if (!flat) process.exitCode = 1;
}

/** The built package, found by its own name as a user's import would. */
async function instrument(/** @type {string} */ asyncHooks) {
  const { EventLoopInstrumentation } = await import('opentelemetry-instrumentation-event-loop');
  return new EventLoopInstrumentation({ asyncHooks, thresholdMillis: Number(options.threshold) });
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

async function heapUsed() {
  await nextIteration();
  globalThis.gc();
  globalThis.gc(); // what the first one's finalizers let go
  return process.memoryUsage().heapUsed;
}

function print(/** @type {string} */ label, /** @type {number} */ bytes, /** @type {number} */ start) {
  const growth = kib(bytes - start);
  console.log(`${label.padEnd(16)} ${kib(bytes).padStart(8)} KiB  ${growth.padStart(7)} KiB since warm-up`);
}

function kib(/** @type {number} */ bytes) {
  return (bytes / 1024).toFixed(0);
}
