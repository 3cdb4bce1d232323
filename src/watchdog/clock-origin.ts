/** Each thread has a `performance.now()` of its own; `process.hrtime()` is the same clock for all. */
import { performance } from 'node:perf_hooks';

/** `process.hrtime()` at 0 of `performance.now()`, in milliseconds: the smallest of some, since time passes between two readings. */
export function originOfClock(): number {
  let origin = Number.POSITIVE_INFINITY;
  for (let i = 0; i < 5; i++) {
    const now = performance.now();
    const [seconds, nanos] = process.hrtime();
    origin = Math.min(origin, seconds * 1000 + nanos / 1e6 - now);
  }
  return origin;
}
