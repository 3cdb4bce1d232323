/**
 * Quantiles of durations, by the histogram of Node.js. From 10 µs to a day they are at most 1 %
 * off; the longest is exact. It takes 35 kB.
 */
import { createHistogram } from 'node:perf_hooks';

/** It counts nanoseconds. */
const OPTIONS = { lowest: 100, highest: 86_400e9, figures: 2 };
const NANOS = 1e6;

export class Durations {
  #histogram: ReturnType<typeof createHistogram> | undefined;
  #max = 0;

  get count(): number {
    return this.#histogram?.count ?? 0;
  }

  get max(): number {
    return this.#max;
  }

  add(millis: number): void {
    const nanos = Math.round(millis * NANOS);
    this.#histogram ??= createHistogram(OPTIONS);
    this.#histogram.record(Math.min(OPTIONS.highest, Math.max(OPTIONS.lowest, nanos)));
    this.#max = Math.max(this.#max, millis);
  }

  with(other: Durations): Durations {
    const both = new Durations();
    for (const each of [this, other]) {
      if (each.#histogram === undefined) continue;
      both.#histogram ??= createHistogram(OPTIONS);
      both.#histogram.add(each.#histogram);
      both.#max = Math.max(both.#max, each.#max);
    }
    return both;
  }

  /**
   * The duration that this share of all did not exceed; 0 without any.
   * @param share above 0, to 1
   */
  quantile(share: number): number {
    if (this.#histogram === undefined) return 0;
    // The histogram rounds the rank to the nearest one.
    const rank = Math.ceil(share * this.count);
    return Math.min(this.#max, this.#histogram.percentile((100 * rank) / this.count) / NANOS);
  }
}
