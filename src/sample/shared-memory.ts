/**
 * The memory that a watched thread and its watchdog thread share. All times are milliseconds of the
 * watched thread's `performance.now()`; the watchdog thread converts its own.
 *
 * Aligned 64-bit loads and stores do not tear on the platforms that Node.js runs on, so times are
 * written and read plainly. What must be read in order goes through `Atomics` on {@link Flag}.
 */

import { createLongCallMemory } from './long-call-memory.ts';

/** Index of a number in the marks. */
export const Mark = {
  /** Watched thread: when the running busy period began; 0 while there is nothing to watch. */
  busyPeriodStart: 0,
  /** Watchdog thread: the start of a busy period that has lasted half of the threshold. */
  markedBusyPeriod: 1,
  /** Watchdog thread: when it means to wake up. The watched thread, when it wakes it: that time. */
  wakeUp: 2,
  /** Watchdog thread: the start of the busy period that it wants a stack sample of. */
  captureBusyPeriod: 3,
  /** Watchdog thread: when it asked for the stack sample; NaN until that is known. */
  captureRequestedAt: 4,
  /** 1 while a debugger can be attached. Main thread; of a worker, its watchdog thread. */
  inspected: 5,
  /** Watched thread: until when the event loop's time has been reported. What runs began later. */
  reportedUntil: 6,
  /** Watchdog thread: how many suspensions it has noted so far. */
  suspensions: 7,
  /** Watched thread: when it answered the latest request for a stack sample. */
  captureAnsweredAt: 8,
  /** Watchdog thread: what the stack sample that it asks for is for, a {@link SampleFor}. */
  captureFor: 9,
  /** Watchdog thread: the mean interval of the loop profile's moments; 0 while it takes none. */
  profileInterval: 10,
  /** Watched thread: the latest beat, and the time that the loop had waited for events by then. */
  beatAt: 11,
  idleTime: 12,
  /** Watchdog thread: 1 if a stack sample was lost, until the watched thread has logged that. */
  sampleLost: 13,
  /** Watchdog thread: for how long the process was stopped so far, all suspensions together. */
  stopped: 14,
  /** Ring of the latest suspensions: from, until, and for how long it was stopped. */
  firstSuspension: 15,
} as const;

/** What a stack sample is asked for. */
export const SampleFor = {
  /** A block; the answer says only that it was taken. */
  block: 0,
  /** The loop profile. */
  profile: 1,
  /** A block whose report as an ongoing block is near: the answer has what that needs. */
  report: 2,
} as const;

/** Suspensions remembered: a block asks for those inside it right after it ended. */
export const MAX_SUSPENSIONS = 32;
export const SUSPENSION_MARKS = 3;
const MARKS = Mark.firstSuspension + SUSPENSION_MARKS * MAX_SUSPENSIONS;

/** Index of a flag, to be used with `Atomics`. */
export const Flag = {
  /** 1 while the watchdog thread has, or is about to open, a session to the main thread. */
  connected: 0,
  /** 1 from when the thread exits or the watchdog is stopped: no session may be opened then. */
  closing: 1,
  /** 1 while the loop idles: nothing runs, and the watchdog thread sleeps until that changes. */
  idle: 2,
  /** See {@link Terminating}. */
  termination: 3,
} as const;
const FLAGS = 4;

/** Values of {@link Flag.termination}; 0 otherwise. See `termination.ts`. */
export const Terminating = {
  /** The watched thread waits for a termination. */
  wanted: 1,
  /** The watchdog thread sends it. */
  begun: 2,
  /** It comes before anything else that runs in the watched thread. */
  queued: 3,
} as const;

export interface SharedMemory {
  readonly marks: Float64Array;
  readonly flags: Int32Array;
  /** See `long-call-memory.ts`. */
  readonly longCall: SharedArrayBuffer;
}

export function createSharedMemory(): SharedMemory {
  return {
    marks: new Float64Array(new SharedArrayBuffer(MARKS * Float64Array.BYTES_PER_ELEMENT)),
    flags: new Int32Array(new SharedArrayBuffer(FLAGS * Int32Array.BYTES_PER_ELEMENT)),
    longCall: createLongCallMemory(),
  };
}
