/** When the watchdog asks for stack samples: closely at first, then ever less often. */
import type { CaptureTimes } from './capture-times.ts';

/** Captures of one block, at most. */
export const MAX_CAPTURES = 30;
/**
 * Each capture of a block is at least this many times as late as the one before: the last one comes
 * after some 20 s, at the default threshold. What ran between two captures is known by its ends
 * only, so a share is wrong by half of the gap at most, a twelfth of the block.
 */
const GROWTH = 1.2;

/** The captures of one block, by its age in milliseconds. */
export class CaptureSchedule {
  #due: number;
  #left = MAX_CAPTURES;
  readonly #every: number;

  constructor({
    captureAfterMillis,
    captureEveryMillis,
  }: Pick<CaptureTimes, 'captureAfterMillis' | 'captureEveryMillis'>) {
    this.#due = captureAfterMillis;
    this.#every = captureEveryMillis;
  }

  /** Age of the next capture; infinite when there were enough. */
  get due(): number {
    return this.#left > 0 ? this.#due : Number.POSITIVE_INFINITY;
  }

  /** A capture was made at `age`. */
  take(age: number): void {
    this.#left--;
    this.#due = Math.max(age + this.#every, age * GROWTH);
  }
}

/** Captures that one busy period may have at once: more than one block's. */
export const CAPTURE_BURST = 40;
/** After these, one capture is possible in so many milliseconds. */
export const CAPTURE_REFILL_MILLIS = 100;

/**
 * Bounds the captures of one busy period, however many blocks are in it: a burst, then a steady
 * rate. Times are those of the clock.
 */
export class CaptureBudget {
  #usedUntil = Number.NEGATIVE_INFINITY;

  /** When the next capture may be made. */
  get due(): number {
    return this.#usedUntil - (CAPTURE_BURST - 1) * CAPTURE_REFILL_MILLIS;
  }

  /** A capture was made at `time`. */
  take(time: number): void {
    this.#usedUntil = Math.max(this.#usedUntil, time) + CAPTURE_REFILL_MILLIS;
  }
}
