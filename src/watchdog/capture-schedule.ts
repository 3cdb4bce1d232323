/** When the watchdog captures, by the age of the busy stretch in milliseconds: closely at first, then ever less often. */

import type { CaptureTimes } from './capture-times.ts';

/** Captures of one stretch, at most. */
export const MAX_CAPTURES = 20;
/** Each capture is at least this many times as late as the one before: some 20 s until the last, at the default threshold. */
const GROWTH = 1.35;

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
