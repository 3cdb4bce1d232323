/** When things happen in the life of a busy period, from the options. All in milliseconds. */

export interface CaptureTimes {
  /** The loop opens a new busy period at least this often, as long as nothing blocks it. */
  readonly pulseMillis: number;
  /** Age at which a busy period is marked: from then on the ends of callbacks are timed. */
  readonly busyAfterMillis: number;
  /** Age of a block at which its first stack sample is taken. */
  readonly captureAfterMillis: number;
  /** Time between the first stack samples. */
  readonly captureEveryMillis: number;
}

/** A timer of Node.js counts whole milliseconds, and may be one late. */
const TIMER_GRAIN_MILLIS = 2;

/**
 * The first stack sample is taken at 0.6 of the threshold, but not before the pulse would have
 * opened a new busy period. A threshold under some 35 ms takes a quicker pulse than the lag's.
 */
export function captureTimes(
  thresholdMillis: number,
  lagIntervalMillis: number,
  hooked: boolean,
): CaptureTimes {
  const wanted = 0.6 * thresholdMillis;
  // Without hooks, only the lag's own timer opens a busy period.
  const pulseMillis = hooked
    ? Math.min(lagIntervalMillis, Math.max(1, Math.floor(wanted) - 1))
    : lagIntervalMillis;
  const busyForSure = pulseMillis + TIMER_GRAIN_MILLIS;
  return {
    pulseMillis,
    busyAfterMillis: Math.max(0.5 * thresholdMillis, busyForSure),
    captureAfterMillis: Math.max(wanted, busyForSure),
    captureEveryMillis: Math.max(1, 0.4 * thresholdMillis),
  };
}
