/**
 * Every timer and clock that this package uses. They are taken when this module is loaded: fake
 * timers of a test replace them later, in `globalThis` and in Node.js' own modules.
 */
import { performance } from 'node:perf_hooks';
import * as timers from 'node:timers';

/** zone.js, and the fake timers of sinon, jest and vitest, keep the function that they replace. */
function original<Fn extends object>(fn: Fn, name: string): Fn {
  const { __zone_symbol__OriginalDelegate: beforeZone, clock } = fn as {
    readonly __zone_symbol__OriginalDelegate?: unknown;
    readonly clock?: Readonly<Record<string, unknown>>;
  };
  return (beforeZone ?? clock?.[`_${name}`] ?? fn) as Fn;
}

export const setTimeout = original(timers.setTimeout, 'setTimeout');
export const clearTimeout = original(timers.clearTimeout, 'clearTimeout');
export const setInterval = original(timers.setInterval, 'setInterval');
export const clearInterval = original(timers.clearInterval, 'clearInterval');
export const setImmediate = original(timers.setImmediate, 'setImmediate');
export const clearImmediate = original(timers.clearImmediate, 'clearImmediate');
export const queueMicrotask = original(globalThis.queueMicrotask, 'queueMicrotask');
export const nextTick = original(process.nextTick, 'nextTick');
/** Not the wrapped one: waits of this package are not the application's. */
export const wait = Atomics.wait;
export const hrtime = original(process.hrtime, 'hrtime');

/** Unix time in whole milliseconds. */
export const dateNow = original(Date, 'Date').now;
/** Unix time at which the process or the worker thread began. */
export const { timeOrigin } = performance;
export const { nodeTiming } = performance;
export const eventLoopUtilization = performance.eventLoopUtilization.bind(performance);
// An own property is a fake one; in Bun it is the only one.
const { now: inherited } = Object.getPrototypeOf(performance) as Partial<typeof performance>;

/** Milliseconds of the thread's monotonic clock. */
export const now: () => number = (inherited ?? performance.now).bind(performance);

export const sleep = (millis: number) =>
  new Promise<void>((resolve) => void setTimeout(resolve, millis));

export const nextIteration = () => new Promise<void>((resolve) => void setImmediate(resolve));
