/** When the watchdog asks for stack samples: closely at first, then ever less often. */
import type { CaptureTimes } from './capture-times.ts';

type CaptureScheduleTimes = Omit<CaptureTimes, 'pulseMillis' | 'busyAfterMillis'>;

/** The captures of one block, by its age in milliseconds. */
export class CaptureSchedule {
  #due: number;
  #left: number;

  constructor(private readonly times: CaptureScheduleTimes) {
    this.#due = times.captureAfterMillis;
    this.#left = times.maxCaptures;
  }

  /** Age of the next capture; infinite when there were enough. */
  get due(): number {
    return this.#left > 0 ? this.#due : Number.POSITIVE_INFINITY;
  }

  /** A capture was made at `age`. */
  take(age: number): void {
    this.#left--;
    const { captureEveryMillis, captureGrowth } = this.times;
    this.#due = Math.max(age + captureEveryMillis, age * captureGrowth);
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
