/**
 * When the watchdog thread was suspended. It wakes up far too late then, and notes it in the shared
 * memory: the process was stopped, or the thread had no CPU.
 */
import { MAX_SUSPENSIONS, Mark, SUSPENSION_MARKS } from './shared-memory.ts';

/** A wake-up that comes this much too late, in milliseconds, is a suspension. */
export const SUSPENSION_MILLIS = 10;

/**
 * To be called by the watchdog thread when it wakes up: it meant to do so at `due`.
 * @param accountedMillis how long it ran or waited for a CPU since it woke up before: for the
 *   remainder of the delay it was stopped. NaN where that is not known
 */
export function noteSuspension(
  marks: Float64Array,
  due: number,
  wokenAt: number,
  accountedMillis = Number.NaN,
): void {
  if (wokenAt - due <= SUSPENSION_MILLIS) return;
  const count = marks[Mark.suspensions] as number;
  const slot = slotOf(count);
  marks[slot] = due;
  marks[slot + 1] = wokenAt;
  const stopped = Math.max(0, wokenAt - due - accountedMillis);
  marks[slot + 2] = stopped;
  marks[Mark.suspensions] = count + 1;
  marks[Mark.stopped] =
    (marks[Mark.stopped] as number) + (Number.isNaN(stopped) ? wokenAt - due : stopped);
}

const slotOf = (index: number) =>
  Mark.firstSuspension + SUSPENSION_MARKS * (index % MAX_SUSPENSIONS);

/**
 * For how long the process was stopped until `now`, at most. Counts the suspension that the
 * watchdog thread has not noted yet.
 */
export function stoppedSoFar(marks: Float64Array, now: number): number {
  return (marks[Mark.stopped] as number) + unnotedWithin(marks, Number.NEGATIVE_INFINITY, now);
}

/**
 * For how long, between `start` and `end`, the watchdog thread was suspended. Counts the suspension
 * that it has not noted yet: it may still be in it, or have had no CPU since.
 */
export function suspendedWithin(marks: Float64Array, start: number, end: number): number {
  return unnotedWithin(marks, start, end) + sumWithin(marks, start, end, true, wholly);
}

/**
 * At least how long, between `start` and `end`, the process was stopped, as far as the watchdog
 * thread has noted it. Where it does not know its own run delay: for how long it was suspended.
 */
export function stoppedWithin(marks: Float64Array, start: number, end: number): number {
  return sumWithin(marks, start, end, false, stoppedPart);
}

/** The same, if the process was stopped in what the watchdog thread has not noted yet. */
export function maybeStoppedWithin(marks: Float64Array, start: number, end: number): number {
  return unnotedWithin(marks, start, end) + sumWithin(marks, start, end, true, stoppedPart);
}

type Part = (overlap: number, length: number, stopped: number) => number;

const wholly: Part = (overlap) => overlap;
const stoppedPart: Part = (overlap, length, stopped) =>
  Number.isNaN(stopped) ? overlap : Math.max(0, overlap - (length - stopped));

/** Of the suspension that the watchdog thread may be in: its part between `start` and `end`. */
function unnotedWithin(marks: Float64Array, start: number, end: number): number {
  const wakeUp = marks[Mark.wakeUp] as number;
  const isLate = wakeUp > 0 && end - wakeUp > SUSPENSION_MILLIS;
  return isLate ? Math.max(0, end - Math.max(wakeUp, start)) : 0;
}

function sumWithin(
  marks: Float64Array,
  start: number,
  end: number,
  withoutLatest: boolean,
  part: Part,
): number {
  const count = marks[Mark.suspensions] as number;
  const wakeUp = marks[Mark.wakeUp] as number;
  let total = 0;
  for (let i = Math.max(0, count - MAX_SUSPENSIONS); i < count; i++) {
    const slot = slotOf(i);
    const from = marks[slot] as number;
    const until = marks[slot + 1] as number;
    // Noted, but the next wake-up is not set yet: counted as not noted.
    if (withoutLatest && from === wakeUp) continue;
    const overlap = Math.max(0, Math.min(until, end) - Math.max(from, start));
    if (overlap > 0) total += part(overlap, until - from, marks[slot + 2] as number);
  }
  return total;
}
