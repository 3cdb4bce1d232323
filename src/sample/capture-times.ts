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
  /** Time between the first stack samples. */
  readonly captureEveryMillis: number;
  /**
   * Each stack sample of a block is taken at this many times the age of the one before, or later.
   */
  readonly captureGrowth: number;
  /** But not later than this after it, until few captures are left. */
  readonly maxGapMillis: number;
  readonly maxCaptures: number;
}

/** The captures that may be far apart. */
const LATE_CAPTURES = 20;
/** A sample takes some 0.5 ms. */
const MIN_GAP_MILLIS = 50;

/** A timer of Node.js counts whole milliseconds, and may be one late. */
const TIMER_GRAIN_MILLIS = 2;

interface Density {
  /** Parts of the threshold. */
  readonly busyAfter: number;
  readonly captureAfter: number;
  readonly captureEvery: number;
  readonly captureGrowth: number;
  readonly maxCaptures: number;
}

/**
 * The last sample comes after some 90 s, at the default threshold. What ran between two samples is
 * known by its ends only, so a share is wrong by half of the gap at most, a twelfth of the block.
 * In the first two seconds the gap is not longer than the threshold: a callback that begins then
 * may be a block by itself.
 */
const USUAL: Density = {
  busyAfter: 0.4,
  captureAfter: 0.5,
  captureEvery: 0.4,
  captureGrowth: 1.2,
  maxCaptures: 50,
};
/** A recording of a test: two runs of the same code have to find the same functions. */
const RECORDING: Density = {
  busyAfter: 0.1,
  captureAfter: 0.1,
  captureEvery: 0.1,
  captureGrowth: 1.1,
  maxCaptures: 60,
};

/**
 * The first stack sample is taken at half of the threshold, so that what it finds ran for half of a
 * block, whatever ran before; but not before the pulse would have opened a new busy period. A
 * threshold under some 35 ms takes a quicker pulse than the lag's.
 * @param isRecording of a test: samples are taken from 0.1 of the threshold on, and closely
 */
export function captureTimes(
  thresholdMillis: number,
  lagIntervalMillis: number,
  hooked: boolean,
  isRecording = false,
): CaptureTimes {
  const density = isRecording ? RECORDING : USUAL;
  const wanted = density.captureAfter * thresholdMillis;
  // Without hooks, only the lag's own timer opens a busy period.
  const pulseMillis = hooked
    ? Math.min(lagIntervalMillis, Math.max(1, Math.floor(wanted) - 1))
    : lagIntervalMillis;
  const busyForSure = pulseMillis + TIMER_GRAIN_MILLIS;
  return {
    pulseMillis,
    busyAfterMillis: Math.max(density.busyAfter * thresholdMillis, busyForSure),
    captureAfterMillis: Math.max(wanted, busyForSure),
    captureEveryMillis: Math.max(1, density.captureEvery * thresholdMillis),
    captureGrowth: density.captureGrowth,
    maxGapMillis: Math.max(thresholdMillis, MIN_GAP_MILLIS),
    maxCaptures: density.maxCaptures,
  };
}

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

  /** @param isFew the next one is taken at twice the age at least */
  take(age: number, isFew = false): void {
    this.#left--;
    const { captureEveryMillis, captureGrowth, maxGapMillis } = this.times;
    const gap = isFew ? age : age * (captureGrowth - 1);
    const isClose = !isFew && this.#left > LATE_CAPTURES;
    const maxGap = isClose ? maxGapMillis : Number.POSITIVE_INFINITY;
    this.#due = age + Math.max(captureEveryMillis, Math.min(gap, maxGap));
  }
}
