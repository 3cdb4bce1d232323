// Guarantees: the heap stays flat over ten million promises and a million timers with the
// instrumentation on, in each `asyncHooks` mode, beside a process without it ('nothing'); exit code
// 1 when it grows by more than MAX_GROWTH_BYTES.
//
//   npm run bench -- memory --mode promises --threshold 1
import { setImmediate as nextIteration } from 'node:timers/promises';
import { answerInFreshProcess, measureInFreshProcess } from './support/fresh-process.mjs';

/** A tenth of a byte per promise: one pointer kept for each would be 80 MB. */
const MAX_GROWTH_BYTES = 1024 * 1024;

const MILLION = 1_000_000;
const PROMISES = 10 * MILLION;
const TIMERS = MILLION;
const TIMERS_AT_ONCE = 10_000;
const AWAITS_AT_ONCE = 5_000;

/** @typedef {{ label: string, bytes: number }} Heap */

/** @type {import('./support/registry.mjs').Bench} */
export default {
  name: 'memory',
  about: 'the heap over ten million promises and a million timers',
  minutes: 2,
  options: {
    mode: { type: 'string', multiple: true, default: ['nothing', 'auto', 'always', 'off'] },
    threshold: { type: 'string', default: '100' },
  },
  async run({ nodes, options, report }) {
    for (const { path, version } of nodes) {
      const modes = options.mode.map((/** @type {string} */ mode) => ({
        mode,
        /** @type {Heap[]} */
        readings: measureInFreshProcess(
          import.meta.url,
          path,
          [mode, options.threshold],
          ['--expose-gc'],
        ),
      }));
      const growthOf = (/** @type {any} */ { readings }, i = readings.length - 1) =>
        readings[i].bytes - readings[0].bytes;
      report.table(
        `Node.js ${version}: KiB of heap since warm-up, by asyncHooks mode; at most ${kib(MAX_GROWTH_BYTES)} allowed`,
        ['', ...modes.map(({ mode }) => mode)],
        modes[0].readings.map(({ label }, i) => [
          label,
          ...modes.map((each) => kib(growthOf(each, i))),
        ]),
        modes,
      );
      for (const each of modes) {
        if (growthOf(each) <= MAX_GROWTH_BYTES) continue;
        report.note(`${each.mode}: NOT FLAT`);
        process.exitCode = 1;
      }
    }
  },
};

function kib(/** @type {number} */ bytes) {
  return (bytes / 1024).toFixed(0);
}

await answerInFreshProcess(import.meta.url, measure);

/**
 * The heap over ten million promises and a million timers in one `asyncHooks` mode, or without the
 * instrumentation.
 * @param {string} mode
 * @param {string} threshold
 */
async function measure(mode, threshold) {
  const { context, ROOT_CONTEXT } = await import('@opentelemetry/api');
  const { AsyncLocalStorageContextManager } = await import('@opentelemetry/context-async-hooks');
  /** @type {Heap[]} */
  const readings = [];

  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  const instrumentation =
    mode === 'nothing' ? undefined : await instrument(mode, Number(threshold));

  // Compiled code, pools and histograms come into being once: not growth.
  await makePromises(MILLION);
  await makeTimers(TIMERS / 10);
  await read('after warm-up');
  for (let made = MILLION; made <= PROMISES; made += MILLION) {
    await makePromises(MILLION);
    await read(`${made / MILLION} M promises`);
  }
  await makeTimers(TIMERS);
  await read(`${TIMERS / MILLION} M timers`);
  instrumentation?.disable();
  return readings;

  /**
   * One promise per turn for the call, awaited in the context of a scope as a request's would be.
   */
  async function makePromises(/** @type {number} */ count) {
    const resolved = async () => {};
    for (let made = 0; made < count; made += AWAITS_AT_ONCE) {
      await context.with(ROOT_CONTEXT, async () => {
        for (let i = 0; i < AWAITS_AT_ONCE; i++) await resolved();
      });
      await nextIteration(); // never long enough to be a block
    }
  }

  async function read(/** @type {string} */ label) {
    readings.push({ label, bytes: await heapUsed() });
  }
}

/** The built package, found by its own name as a user's import would. */
async function instrument(/** @type {string} */ asyncHooks, /** @type {number} */ thresholdMillis) {
  const { EventLoopInstrumentation } = await import('opentelemetry-instrumentation-event-loop');
  return new EventLoopInstrumentation({ asyncHooks, thresholdMillis });
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
