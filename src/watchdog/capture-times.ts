/** When things happen in the life of a busy stretch, from the options. All in milliseconds. */

export interface CaptureTimes {
  /** The loop opens a new stretch at least this often, as long as nothing holds it. */
  readonly pulseMillis: number;
  /** Age of a stretch at which it counts as busy: from then on the main thread times the ends of callbacks. */
  readonly busyAfterMillis: number;
  /** Age at which the first capture is made. */
  readonly captureAfterMillis: number;
  /** Time between the first captures. */
  readonly captureEveryMillis: number;
}

/** A timer of Node.js counts whole milliseconds, and may be one late. */
const TIMER_GRAIN_MILLIS = 2;

/**
 * The first capture is made after 0.6 of the threshold, provided that a stretch of that age is a busy one for sure: that it is
 * older than the pulse. For a threshold under some 35 ms this takes a pulse quicker than the lag's.
 */
export function captureTimes(
  thresholdMillis: number,
  lagIntervalMillis: number,
  hooked: boolean,
): CaptureTimes {
  const wanted = 0.6 * thresholdMillis;
  // Without hooks, only the lag's own timer opens a stretch.
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
