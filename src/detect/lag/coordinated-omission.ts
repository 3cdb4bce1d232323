/**
 * How long events had to wait for the loop, from the lateness of one timer, without coordinated
 * omission.
 */

/** Most samples that one late beat stands for. Past it they are spread evenly over the wait. */
export const MAX_SAMPLES_PER_BEAT = 1000;

/**
 * A timer that comes `lag` late has been asked once; meanwhile arrivals at the same rate went
 * unasked, which waited `lag - interval`, `lag - 2 × interval` and so on. Without them every
 * percentile is too rosy (coordinated omission).
 */
export function recordLag(
  lagMillis: number,
  intervalMillis: number,
  record: (lagMillis: number) => void,
): void {
  const step = Math.max(intervalMillis, lagMillis / MAX_SAMPLES_PER_BEAT);
  record(lagMillis);
  // Counted, not subtracted until zero: rounding must not make one more.
  const more = Math.ceil(lagMillis / step) - 1;
  for (let i = 1; i <= more; i++) record(lagMillis - i * step);
}
