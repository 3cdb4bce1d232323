/**
 * When stack samples are taken, from the options: closely at first, then ever less often. All in
 * milliseconds.
 */

export interface CaptureTimes {
  /** The loop opens a new busy period at least this often, as long as nothing blocks it. */
  readonly pulseMillis: number;
  /** Age at which a busy period is marked: from then on the ends of callbacks are timed. */
  readonly busyAfterMillis: number;
  /** Age of a block at which its first stack sample is taken. */
  readonly captureAfterMillis: number;
  /** Time between its first stack samples. */
  readonly captureEveryMillis: number;
}

/** Of one block. The last one comes after some 90 s, at the default threshold. */
const MAX_CAPTURES = 50;
/**
 * Of these, each comes at this many times the age of the one before. What ran between two samples
 * is known by its ends only: a share is wrong by half of the gap at most, a twelfth of the block.
 */
const LATE_CAPTURES = 25;
const GROWTH = 1.2;
/** The same where the budget gets short. */
const FEW_GROWTH = 2;

/** A timer of Node.js counts whole milliseconds, and may be one late. */
const TIMER_GRAIN_MILLIS = 2;

/** Parts of the threshold. */
const BUSY_AFTER = 0.4;
const CAPTURE_AFTER = 0.5;
const CAPTURE_EVERY = 0.4;

/**
 * The first stack sample is taken at half of the threshold, so that what it finds ran for half of a
 * block, whatever ran before; but not before the pulse would have opened a new busy period. A
 * threshold under some 35 ms takes a quicker pulse than the lag's.
 */
export function captureTimes(thresholdMillis: number, lagIntervalMillis: number): CaptureTimes {
  const wanted = CAPTURE_AFTER * thresholdMillis;
  const pulseMillis = Math.min(lagIntervalMillis, Math.max(1, Math.floor(wanted) - 1));
  const busyForSure = pulseMillis + TIMER_GRAIN_MILLIS;
  return {
    pulseMillis,
    busyAfterMillis: Math.max(BUSY_AFTER * thresholdMillis, busyForSure),
    captureAfterMillis: Math.max(wanted, busyForSure),
    captureEveryMillis: Math.max(1, CAPTURE_EVERY * thresholdMillis),
  };
}

/** The captures of one block, by its age in milliseconds. */
export class CaptureSchedule {
  #due: number;
  #left = MAX_CAPTURES;

  constructor(
    private readonly times: Pick<CaptureTimes, 'captureAfterMillis' | 'captureEveryMillis'>,
  ) {
    this.#due = times.captureAfterMillis;
  }

  /** Age of the next capture; infinite when there were enough. */
  get due(): number {
    return this.#left > 0 ? this.#due : Number.POSITIVE_INFINITY;
  }

  /** @param isFew the next one is taken at twice the age at least */
  take(age: number, isFew = false): void {
    this.#left--;
    const next = age + this.times.captureEveryMillis;
    const isClose = !isFew && this.#left > LATE_CAPTURES;
    this.#due = isClose ? next : Math.max(next, age * (isFew ? FEW_GROWTH : GROWTH));
  }
}
