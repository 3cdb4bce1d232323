/**
 * The watchdog thread notes when it was suspended: the process was stopped, or the thread had no
 * CPU, so it woke up far too late. Guarantees: each suspension counts once, also while it lasts.
 */
import {
  MAX_SUSPENSIONS,
  Progress,
  type SharedMemory,
  Sleeping,
  Suspended,
} from './shared-memory.ts';

/** A wake-up that comes this much too late, in milliseconds, is a suspension. */
export const SUSPENSION_MILLIS = 10;

/**
 * The watchdog thread calls it when it wakes up: it meant to do so at `due`.
 * @param accountedMillis how long it ran or waited for a CPU since it woke up before: for the
 *   remainder of the delay it was stopped. NaN if that is not known
 */
export function noteSuspension(
  { sleep, suspensions }: SharedMemory,
  due: number,
  wokenAt: number,
  accountedMillis = Number.NaN,
): void {
  if (wokenAt - due <= SUSPENSION_MILLIS) return;
  const stopped = Math.max(0, wokenAt - due - accountedMillis);
  const { values } = sleep;
  const noted = values[Sleeping.suspensions] as number;
  suspensions.values.set([due, wokenAt, stopped]);
  suspensions.publish(noted % MAX_SUSPENSIONS);
  values[Sleeping.suspensions] = noted + 1;
  values[Sleeping.wakeUp] = wokenAt;
  values[Sleeping.stopped] =
    (values[Sleeping.stopped] as number) + (Number.isNaN(stopped) ? wokenAt - due : stopped);
  sleep.publish();
}

/** When the watchdog thread runs next, or was woken up before that; 0 without one. */
export function wakeUpIn({ sleep, progress }: SharedMemory): number {
  const { [Sleeping.wakeUp]: due = 0, [Sleeping.untilWoken]: untilWoken } = sleep.read();
  const { [Progress.wokenBefore]: wokenBefore, [Progress.wokenAt]: wokenAt = 0 } = progress.read();
  return untilWoken === 1 && wokenBefore === due ? Math.min(due, wokenAt) : due;
}

/** The watched thread wakes the watchdog thread up at `now`. */
export function noteWakeUp({ sleep, progress }: SharedMemory, now: number): void {
  progress.values[Progress.wokenAt] = now;
  progress.values[Progress.wokenBefore] = sleep.get(Sleeping.wakeUp);
  progress.publish();
}

/**
 * The longest time for which the process may have been stopped until `now`, with the suspension
 * that the watchdog thread has not noted yet.
 */
export function stoppedSoFar(memory: SharedMemory, now: number): number {
  const unnoted = unnotedWithin(memory, Number.NEGATIVE_INFINITY, now);
  return memory.sleep.get(Sleeping.stopped) + unnoted;
}

/**
 * Milliseconds between `start` and `end` in which the watchdog thread was suspended, with the
 * suspension that it has not noted yet: it may have had no CPU since.
 */
export function suspendedWithin(memory: SharedMemory, start: number, end: number): number {
  return unnotedWithin(memory, start, end) + sumWithin(memory, start, end, wholly);
}

/**
 * Milliseconds between `start` and `end` in which the process was stopped, as far as the watchdog
 * thread has noted it. Without its own run delay, it is the time of its suspensions.
 */
export function stoppedWithin(memory: SharedMemory, start: number, end: number): number {
  return sumWithin(memory, start, end, stoppedPart);
}

/** {@link stoppedWithin}, with the suspension that the watchdog thread has not noted yet. */
export function maybeStoppedWithin(memory: SharedMemory, start: number, end: number): number {
  return unnotedWithin(memory, start, end) + stoppedWithin(memory, start, end);
}

type Part = (overlap: number, length: number, stopped: number) => number;

const wholly: Part = (overlap) => overlap;
const stoppedPart: Part = (overlap, length, stopped) =>
  Number.isNaN(stopped) ? overlap : Math.max(0, overlap - (length - stopped));

/** The part between `start` and `end` of the suspension that the watchdog thread may be in. */
function unnotedWithin(memory: SharedMemory, start: number, end: number): number {
  const wakeUp = wakeUpIn(memory);
  const isLate = wakeUp > 0 && end - wakeUp > SUSPENSION_MILLIS;
  return isLate ? Math.max(0, end - Math.max(wakeUp, start)) : 0;
}

function sumWithin(memory: SharedMemory, start: number, end: number, part: Part): number {
  const noted = memory.sleep.get(Sleeping.suspensions);
  let total = 0;
  for (let i = Math.max(0, noted - MAX_SUSPENSIONS); i < noted; i++) {
    const values = memory.suspensions.read(i % MAX_SUSPENSIONS);
    const from = values[Suspended.from] as number;
    const until = values[Suspended.until] as number;
    const overlap = Math.max(0, Math.min(until, end) - Math.max(from, start));
    if (overlap > 0) total += part(overlap, until - from, values[Suspended.stopped] as number);
  }
  return total;
}
