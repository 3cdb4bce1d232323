/**
 * Quantiles of durations in bounded memory.
 *
 * Guarantees: at most 567 numbers, however many durations; a quantile is at most 2.5 % off,
 * the longest is exact.
 */

/** A bucket ends at this many times its start. */
const GROWTH = 1.05;
const LOG_GROWTH = Math.log(GROWTH);
/** Shorter durations count as this long. With {@link MAX_MILLIS}, this makes 567 buckets. */
const MIN_MILLIS = 1e-3;
/** 11 days. What is longer counts as this long. */
const MAX_MILLIS = 1e9;

export class Durations {
  readonly #buckets = new Map<number, number>();
  #count = 0;
  #min = Number.POSITIVE_INFINITY;
  #max = 0;

  get count(): number {
    return this.#count;
  }

  get max(): number {
    return this.#max;
  }

  add(millis: number): void {
    const bucket = bucketOf(millis);
    this.#buckets.set(bucket, (this.#buckets.get(bucket) ?? 0) + 1);
    this.#count++;
    this.#min = Math.min(this.#min, millis);
    this.#max = Math.max(this.#max, millis);
  }

  with(other: Durations): Durations {
    const both = new Durations();
    for (const each of [this.#buckets, other.#buckets])
      for (const [bucket, n] of each)
        both.#buckets.set(bucket, (both.#buckets.get(bucket) ?? 0) + n);
    both.#count = this.#count + other.#count;
    both.#min = Math.min(this.#min, other.#min);
    both.#max = Math.max(this.#max, other.#max);
    return both;
  }

  /**
   * The duration that this share of all did not exceed; 0 without any.
   * @param share 0 to 1
   */
  quantile(share: number): number {
    let left = Math.max(1, Math.ceil(share * this.#count));
    const sorted = [...this.#buckets].sort(([a], [b]) => a - b);
    for (const [bucket, count] of sorted) {
      left -= count;
      if (left <= 0) return Math.max(this.#min, Math.min(this.#max, middleOf(bucket)));
    }
    return 0;
  }
}

function bucketOf(millis: number): number {
  const bounded = Math.min(MAX_MILLIS, Math.max(MIN_MILLIS, millis));
  return Math.ceil(Math.log(bounded / MIN_MILLIS) / LOG_GROWTH);
}

/** Equally far from the start of the bucket and from its end, in proportion. */
function middleOf(bucket: number): number {
  if (bucket === 0) return 0;
  return (MIN_MILLIS * 2 * GROWTH ** bucket) / (GROWTH + 1);
}
