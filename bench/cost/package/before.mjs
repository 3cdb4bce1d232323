// Preloaded before `/register`: keeps what that is going to replace, and times what it has called
// back on the main thread: timers and immediates.
import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers';

const PACKAGE = 'opentelemetry-instrumentation-event-loop';

/** What a request to the service calls. */
const HOLDERS = [JSON, Buffer.prototype, TextDecoder.prototype, TextEncoder.prototype];
const before = HOLDERS.map((holder) => Object.getOwnPropertyDescriptors(holder));

/** @typedef {{ holder: object, key: string, on: PropertyDescriptor, off: PropertyDescriptor }} Replaced */

/** @returns {Replaced[]} what was replaced since */
function replaced() {
  return HOLDERS.flatMap((holder, i) =>
    Object.entries(Object.getOwnPropertyDescriptors(holder)).flatMap(([key, on]) => {
      const off = before[i][key];
      return off === undefined || off.value === on.value ? [] : [{ holder, key, on, off }];
    }),
  );
}

/** Milliseconds so far. */
const spent = { timers: 0 };

function timed(/** @type {Function} */ callback) {
  return function (/** @type {unknown[]} */ ...args) {
    const start = performance.now();
    try {
      return callback.apply(this, args);
    } finally {
      spent.timers += performance.now() - start;
    }
  };
}

/** @type {WeakMap<Function, Function>} */
const callbacks = new WeakMap();

/** A callback of the package is timed, any other is itself. */
function timedIfOwn(/** @type {Function} */ callback) {
  let known = callbacks.get(callback);
  if (known === undefined) {
    // This function, the timer's, and the one that sets it.
    const caller = new Error().stack?.split('\n')[3];
    const isOwn = caller?.includes(`/node_modules/${PACKAGE}/`) === true;
    known = isOwn ? timed(callback) : callback;
    callbacks.set(callback, known);
  }
  return known;
}

for (const name of ['setImmediate', 'setTimeout']) {
  const original = timers[name];
  const set = (/** @type {Function} */ callback, /** @type {unknown[]} */ ...args) =>
    original(timedIfOwn(callback), ...args);
  // With what `util.promisify` looks for.
  timers[name] = Object.defineProperties(set, Object.getOwnPropertyDescriptors(original));
}
syncBuiltinESMExports();

/** For `switch.mjs`. */
globalThis.benchmark = { replaced, spent };
