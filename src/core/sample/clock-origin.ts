/** Each thread has its own `performance.now()`; `process.hrtime()` is the same clock for all. */
import { hrtime, now } from '../../support/time.ts';

/**
 * `process.hrtime()` at 0 of `performance.now()`, in milliseconds. Time passes between two
 * readings, so it is the smallest difference of several.
 */
export function originOfClock(): number {
  let origin = Number.POSITIVE_INFINITY;
  for (let i = 0; i < 5; i++) {
    const time = now();
    const [seconds, nanos] = hrtime();
    origin = Math.min(origin, seconds * 1000 + nanos / 1e6 - time);
  }
  return origin;
}

/** The `performance.now()` of the thread whose clock has this origin. */
export function clockOf(origin: number): () => number {
  const offset = originOfClock() - origin;
  return () => now() + offset;
}
