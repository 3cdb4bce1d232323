// Guarantees: medians with bootstrap intervals, the same for the same numbers on every run.

const RESAMPLES = 2000;
const CONFIDENCE = 0.95;

/**
 * @typedef {{ value: number, low: number, high: number }} Estimate value with its 95 % bootstrap
 *   interval
 */

/** For an index that is there. */
const at = (/** @type {ArrayLike<number>} */ values, /** @type {number} */ i) =>
  /** @type {number} */ (values[i]);

/** @param {number[]} values */
function median(values) {
  const sorted = Float64Array.from(values).sort();
  const middle = sorted.length >> 1;
  const upper = at(sorted, middle);
  return sorted.length % 2 === 1 ? upper : (at(sorted, middle - 1) + upper) / 2;
}

/**
 * The value that `share` of all are not above.
 * @param {number[]} values
 * @param {number} share
 */
function quantile(values, share) {
  const sorted = Float64Array.from(values).sort();
  return at(sorted, Math.max(0, Math.ceil(share * sorted.length) - 1));
}

/**
 * Median of one list; for paired measurements give the list of differences or of ratios.
 * @param {number[]} values
 * @returns {Estimate}
 */
function estimate(values) {
  const random = generator();
  const resampled = () => values.map(() => at(values, Math.floor(random() * values.length)));
  const medians = Float64Array.from({ length: RESAMPLES }, () => median(resampled())).sort();
  const tail = (1 - CONFIDENCE) / 2;
  const atShare = (/** @type {number} */ share) => at(medians, Math.round(share * (RESAMPLES - 1)));
  return { value: median(values), low: atShare(tail), high: atShare(1 - tail) };
}

/** As it is printed: `1.2 [0.9, 1.4]`. */
function interval(/** @type {Estimate} */ { value, low, high }, /** @type {number} */ digits) {
  return `${value.toFixed(digits)} [${low.toFixed(digits)}, ${high.toFixed(digits)}]`;
}

/** Mulberry32: the same numbers for the same seed. */
function generator(seed = 0x9e3779b9) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

module.exports = { estimate, generator, interval, median, quantile };
