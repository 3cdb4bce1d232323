// Guarantees: everything that `hooks` weighs, each with an `on` and an `off` that undo each other.
import { createHook } from 'node:async_hooks';

/** @typedef {{ on(): void, off(): void }} Switch */

/**
 * @typedef {object} Subject
 * @property {string} name as printed, and as given to `--only`
 * @property {() => Promise<Switch>} prepare called after the first off slices: until then nothing
 *   of it is loaded
 */

/** @type {Subject[]} */
export const SUBJECTS = [
  { name: 'nothing', prepare: async () => ({ on() {}, off() {} }) },
  { name: 'empty hook', prepare: async () => emptyHook({ trackPromises: false }) },
  { name: 'empty promise hook', prepare: async () => emptyHook({}) },
  { name: "asyncHooks: 'auto'", prepare: () => instrumentation('auto') },
  { name: "asyncHooks: 'always'", prepare: () => instrumentation('always') },
  { name: "asyncHooks: 'off'", prepare: () => instrumentation('off') },
];

/** The floor: what Node.js itself charges for calling a hook that does nothing. */
function emptyHook(/** @type {{ trackPromises?: boolean }} */ options) {
  const hook = createHook({ before() {}, after() {}, ...options });
  return { on: () => void hook.enable(), off: () => void hook.disable() };
}

async function instrumentation(/** @type {'auto' | 'always' | 'off'} */ asyncHooks) {
  // By its own name, as a user's import would.
  const { EventLoopInstrumentation } = await import('opentelemetry-instrumentation-event-loop');
  const subject = new EventLoopInstrumentation({ asyncHooks, enabled: false });
  return { on: () => subject.enable(), off: () => subject.disable() };
}
