/** The windows that `loopProfile()` takes, and its answer if there is no loop profile. */
import type { LoopProfile } from './types.ts';

/** The period may be as short or long as this. */
export const MIN_PROFILE_WINDOW_MILLIS = 1000;
export const MAX_PROFILE_WINDOW_MILLIS = 300_000;

export const UNKNOWN_PROFILE: LoopProfile = {
  elapsedMillis: 0,
  utilization: 0,
  samples: 0,
  functions: [],
  operations: [],
};
