// Guarantees: the operations whose price is asked, each as a slice that runs it a given number of
// times and returns nanoseconds per operation. A slice takes 1 to 4 ms, as a healthy loop iteration
// does: the instrumentation keeps notes on what blocks the event loop only when an iteration takes
// longer, and that is another price.
import { context, ROOT_CONTEXT } from '@opentelemetry/api';

/**
 * @typedef {object} Workload
 * @property {string} name
 * @property {string} unit what one operation is
 * @property {number} count operations in a slice
 * @property {(count: number) => Promise<number>} run nanoseconds per operation
 */

const nanoseconds = (/** @type {number} */ start, /** @type {number} */ count) =>
  ((performance.now() - start) * 1e6) / count;

/** One `await` of a value that is there: two promises, one microtask. */
async function awaits(/** @type {number} */ count) {
  const start = performance.now();
  for (let i = 0; i < count; i++) await undefined;
  return nanoseconds(start, count);
}

/** Callbacks that share a loop iteration, as in a service with something to do. */
const CALLBACKS_PER_ITERATION = 20;

/** One outermost callback among others. */
function callbacks(/** @type {number} */ count) {
  return new Promise((resolve) => {
    let left = count;
    const one = () => {
      left--;
    };
    const last = () => {
      if (--left <= 0) return resolve(nanoseconds(start, count));
      for (let i = 1; i < CALLBACKS_PER_ITERATION; i++) setImmediate(one);
      setImmediate(last);
    };
    left++;
    const start = performance.now();
    setImmediate(last);
  });
}

/**
 * One callback in a loop iteration of its own: the dearest case for hooks, nothing else shares the
 * iteration.
 */
function immediates(/** @type {number} */ count) {
  return new Promise((resolve) => {
    let left = count;
    const start = performance.now();
    setImmediate(function round() {
      if (--left > 0) setImmediate(round);
      else resolve(nanoseconds(start, count));
    });
  });
}

/** One `process.nextTick` from within the one before. */
function nextTicks(/** @type {number} */ count) {
  return new Promise((resolve) => {
    let left = count;
    const start = performance.now();
    process.nextTick(function tick() {
      if (--left > 0) process.nextTick(tick);
      else resolve(nanoseconds(start, count));
    });
  });
}

const KEY = Symbol('bench');
const CONTEXT = ROOT_CONTEXT.setValue(KEY, 1);
const counter = { scopes: 0, clock: 0 };
const add = () => {
  counter.scopes += 1;
};

/** One synchronous `context.with`, as instrumentations do around every handler. */
async function contextScopes(/** @type {number} */ count) {
  const start = performance.now();
  for (let i = 0; i < count; i++) context.with(CONTEXT, add);
  return nanoseconds(start, count);
}

/**
 * One read of the clock: nothing adds to it. It shows how fast the machine is, and which part of
 * the others is reading clocks.
 */
async function clockReads(/** @type {number} */ count) {
  const start = performance.now();
  for (let i = 0; i < count; i++) counter.clock = performance.now();
  return nanoseconds(start, count);
}

/** @type {Workload[]} */
export const WORKLOADS = [
  { name: 'await', unit: 'await', count: 10_000, run: awaits },
  { name: 'callback', unit: 'outermost callback', count: 8_000, run: callbacks },
  {
    name: 'lone callback',
    unit: 'outermost callback, and a loop iteration',
    count: 4_000,
    run: immediates,
  },
  { name: 'nextTick', unit: 'process.nextTick', count: 8_000, run: nextTicks },
  { name: 'context.with', unit: 'context.with', count: 5_000, run: contextScopes },
  { name: 'clock read', unit: 'performance.now()', count: 20_000, run: clockReads },
];
