/**
 * What the main thread writes down for the health server's thread, on every beat of the lag timer.
 * A main thread that is blocked is asked for nothing: what it wrote last is read. Times are
 * milliseconds of the main thread's `performance.now()`.
 *
 * Aligned 64-bit numbers do not tear. A reader takes {@link Beat.due} again after the others: if
 * that has changed, the loop has turned, and the others do not matter.
 */
import type { HealthSlots } from '../detect/lag/health.ts';
import type { SharedMemory } from '../sample/shared-memory.ts';

/** Index of a number. */
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
const BEAT_NUMBERS = 5;

export interface HealthServerMemory {
  readonly beat: Float64Array;
  /** The samples of the lag, as `health()` reads them. */
  readonly lag: HealthSlots;
  /** The latest stack sample of the busy period, as the watchdog thread was answered. */
  readonly sample: SharedArrayBuffer;
  /** Undefined without a watchdog thread. */
  readonly watchdog: SharedMemory | undefined;
}

export function createBeatMemory(): Float64Array {
  return new Float64Array(new SharedArrayBuffer(BEAT_NUMBERS * Float64Array.BYTES_PER_ELEMENT));
}
