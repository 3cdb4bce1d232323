// Promises: everything that is weighed, each with an `on` and an `off` that undo each other.
import { createHook } from 'node:async_hooks';

/** @typedef {{ on(): void, off(): void }} Switch */

/**
 * @typedef {object} Subject
 * @property {string} name as printed, and as given to `--only`
 * @property {() => Promise<Switch>} prepare called after the first off slices: until then nothing of it is loaded
 */

/** @type {Subject[]} */
export const SUBJECTS = [
  { name: 'nothing', prepare: async () => ({ on() {}, off() {} }) },
  { name: 'empty hook', prepare: async () => emptyHook({ trackPromises: false }) },
  { name: 'empty promise hook', prepare: async () => emptyHook({}) },
  { name: "asyncHooks: 'callbacks'", prepare: () => instrumentation('callbacks') },
  { name: "asyncHooks: 'promises'", prepare: () => instrumentation('promises') },
  { name: "asyncHooks: 'off'", prepare: () => instrumentation('off') },
];

/**
 * What is weighed in a whole service (`service.mjs`), each started already; nothing for a process without any of it.
 * @type {Record<string, () => Promise<{ enable(): unknown, disable(): unknown } | undefined>>}
 */
export const SERVICE_SUBJECTS = {
  nothing: async () => undefined,
  'empty hook': async () => createHook({ before() {}, after() {}, trackPromises: false }).enable(),
  "asyncHooks: 'off'": () => create({ asyncHooks: 'off' }),
  'a 20 ms timer': async () => timer(20),
  'captureStack: false': () => create({ captureStack: false }),
  defaults: () => create({}),
};

/** The floor of what is sampled so often: what the timer alone takes. */
function timer(/** @type {number} */ millis) {
  const beat = setInterval(() => {}, millis).unref();
  return { enable: () => beat.refresh(), disable: () => clearInterval(beat) };
}

/** The floor: what Node.js itself charges for calling a hook that does nothing. */
function emptyHook(/** @type {{ trackPromises?: boolean }} */ options) {
  const hook = createHook({ before() {}, after() {}, ...options });
  return { on: () => void hook.enable(), off: () => void hook.disable() };
}

async function instrumentation(/** @type {'callbacks' | 'promises' | 'off'} */ asyncHooks) {
  const subject = await create({ asyncHooks, enabled: false });
  return { on: () => subject.enable(), off: () => subject.disable() };
}

/** The built package, found by its own name as a user's import would. */
async function create(/** @type {object} */ config) {
  const { EventLoopInstrumentation } = await import('opentelemetry-instrumentation-event-loop');
  return new EventLoopInstrumentation(config);
}
