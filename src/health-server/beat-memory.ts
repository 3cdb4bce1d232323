/**
 * What the main thread writes down for the health server's thread, on every beat of the lag timer.
 * A main thread that is blocked is asked for nothing: what it wrote last is read. Times are
 * milliseconds of the main thread's `performance.now()`.
 */
import { SharedRecords } from '../sample/shared-records.ts';

/** Index of a number. All belong to one beat. */
export const Beat = {
  /** When the next beat is due. While the loop turns, it comes then. */
  due: 0,
  /** CPU time that the main thread had used by the latest beat; of the process if that is all. */
  ran: 1,
  /** For how long it had waited for a CPU by then; NaN if that is not known. */
  waitedForCpu: 2,
  /** For how long the watchdog thread had seen the process stopped by then. */
  stopped: 3,
  /** 1 while a debugger can be attached. */
  inspected: 4,
} as const;
const NUMBERS = Object.keys(Beat).length;

/** The buffers that the main thread shares with the health server's thread. */
export interface HealthServerMemory {
  readonly beat: SharedArrayBuffer;
  /** The samples of the lag, as `health()` reads them. */
  readonly lag: Int32Array;
  /** The latest stack sample of the busy period, as the watchdog thread was answered. */
  readonly sample: SharedArrayBuffer;
  /** The buffer of a `SharedMemory`; undefined without a watchdog thread. */
  readonly watchdog: SharedArrayBuffer | undefined;
}

export function createBeatMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT * SharedRecords.wordsOf(NUMBERS));
}

/** The beat as one thread sees it. */
export const beatIn = (memory: SharedArrayBuffer) =>
  new SharedRecords(new Int32Array(memory), NUMBERS);

export function processCpuMillis(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
