/**
 * The memory that the main thread and the watchdog share. All times are milliseconds of the main thread's
 * `performance.now()`; the watchdog converts its own.
 *
 * Aligned 64-bit loads and stores do not tear on the platforms that Node.js runs on, so times are written and read plainly.
 * What has to be seen in order goes through `Atomics` on {@link Flag}.
 */

/** Index of a number in the marks. */
export const Mark = {
  /** Written by the main thread: when the running stretch began; 0 while there is nothing to watch. */
  stretchStart: 0,
  /** Written by the watchdog: the start of a stretch that has passed half of the threshold. */
  busyStretch: 1,
  /** Written by the watchdog: when it means to wake up. By the main thread that wakes it: when it did. */
  wakeUp: 2,
  /** Written by the watchdog: the stretch it asks to capture. */
  captureStretch: 3,
  /** Written by the watchdog: when it asked. */
  captureRequestedAt: 4,
  /** Written by the main thread: 1 while a debugger can be attached. */
  inspected: 5,
  /** Written by the watchdog: how many standstills it has noted so far. */
  standstills: 6,
  /** Ring of the latest standstills: from, until. */
  firstStandstill: 7,
} as const;

/** Standstills remembered: one block asks about them right after it ended. */
export const MAX_STANDSTILLS = 32;
const MARKS = Mark.firstStandstill + 2 * MAX_STANDSTILLS;

/** Index of a flag, to be used with `Atomics`. */
export const Flag = {
  /** 1 while the watchdog has, or is about to open, an inspector session to the main thread. */
  connected: 0,
  /** 1 from when the process exits or the watchdog is stopped: no session may be opened from then on. */
  closing: 1,
  /** 1 while the loop rests: nothing runs, and who waits for that to change is notified when it does. */
  resting: 2,
} as const;
const FLAGS = 3;

export interface SharedMemory {
  readonly marks: Float64Array;
  readonly flags: Int32Array;
}

export function createSharedMemory(): SharedMemory {
  return {
    marks: new Float64Array(new SharedArrayBuffer(MARKS * Float64Array.BYTES_PER_ELEMENT)),
    flags: new Int32Array(new SharedArrayBuffer(FLAGS * Int32Array.BYTES_PER_ELEMENT)),
  };
}

/** A wake-up that comes this much too late, in milliseconds, is a standstill: the process was stopped, or had no CPU. */
export const STANDSTILL_MILLIS = 10;

/**
 * For how long, between `start` and `end`, the watchdog stood still too. Counts the standstill that it has not noted yet
 * because it is still in it, or has not had its turn since.
 */
export function standstillWithin(marks: Float64Array, start: number, end: number): number {
  const count = marks[Mark.standstills] as number;
  const wakeUp = marks[Mark.wakeUp] as number;
  const overlap = (from: number, until: number) => Math.max(0, Math.min(until, end) - Math.max(from, start));
  let total = wakeUp > 0 && end - wakeUp > STANDSTILL_MILLIS ? overlap(wakeUp, end) : 0;
  for (let i = Math.max(0, count - MAX_STANDSTILLS); i < count; i++) {
    const slot = Mark.firstStandstill + 2 * (i % MAX_STANDSTILLS);
    const from = marks[slot] as number;
    // Noted, but the next wake-up is not set yet.
    if (from !== wakeUp) total += overlap(from, marks[slot + 1] as number);
  }
  return total;
}
