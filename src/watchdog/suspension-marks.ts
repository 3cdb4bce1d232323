/**
 * When the whole process was suspended: stopped, or without a CPU. The watchdog thread wakes up far
 * too late then, and notes it in the shared memory.
 */
import { MAX_SUSPENSIONS, Mark } from './shared-memory.ts';

/** A wake-up that comes this much too late, in milliseconds, is a suspension. */
export const SUSPENSION_MILLIS = 10;

/** To be called by the watchdog thread when it wakes up: it meant to do so at `due`. */
export function noteSuspension(marks: Float64Array, due: number, wokenAt: number): void {
  if (wokenAt - due <= SUSPENSION_MILLIS) return;
  const count = marks[Mark.suspensions] as number;
  const slot = Mark.firstSuspension + 2 * (count % MAX_SUSPENSIONS);
  marks[slot] = due;
  marks[slot + 1] = wokenAt;
  marks[Mark.suspensions] = count + 1;
}

/**
 * For how long, between `start` and `end`, the watchdog thread was suspended. Counts the suspension
 * that it has not noted yet: it may still be in it, or have had no CPU since.
 */
export function suspendedWithin(marks: Float64Array, start: number, end: number): number {
  const count = marks[Mark.suspensions] as number;
  const wakeUp = marks[Mark.wakeUp] as number;
  const overlap = (from: number, until: number) =>
    Math.max(0, Math.min(until, end) - Math.max(from, start));
  let total = wakeUp > 0 && end - wakeUp > SUSPENSION_MILLIS ? overlap(wakeUp, end) : 0;
  for (let i = Math.max(0, count - MAX_SUSPENSIONS); i < count; i++) {
    const slot = Mark.firstSuspension + 2 * (i % MAX_SUSPENSIONS);
    const from = marks[slot] as number;
    // Noted, but the next wake-up is not set yet.
    if (from !== wakeUp) total += overlap(from, marks[slot + 1] as number);
  }
  return total;
}
