// What the report shows of the telemetry: blocks and stalls of a trace, and a histogram.
// What was not exported is undefined or empty.
import { BLOCK_SPAN } from '../tools/otlp.cjs';

/** @import { Metric, Span, Trace } from '../tools/otlp.cjs' */

export const STALL_ATTRIBUTE = 'event_loop.stall.duration';
export const LAG_METRIC = 'event_loop.lag';
export const BLOCK_EVENT = 'event_loop.blocked';

/**
 * @typedef {object} Histogram times in seconds, as exported
 * @property {number} count
 * @property {number} min
 * @property {number} max
 * @property {number[]} bounds
 * @property {number[]} counts one more than there are bounds
 */

/** @returns {string | undefined} the path a trace's root span was a request for */
export function requestPath({ root }) {
  const path = root.attributes['url.path'] ?? root.attributes['http.target'];
  return path?.split('?')[0];
}

/** @returns {Span[]} */
export const blocksOf = (/** @type {Trace} */ trace) =>
  trace.rows.map((row) => row.span).filter((span) => span.name === BLOCK_SPAN);

/** The spans of a trace that were stalled: for how many seconds, and by which blocks. */
export const stallsOf = (trace) =>
  trace.rows
    .map((row) => row.span)
    .filter((span) => span.attributes[STALL_ATTRIBUTE] > 0)
    .map(({ attributes, links }) => ({ seconds: attributes[STALL_ATTRIBUTE], links }));

/**
 * @param {Metric[]} metrics
 * @param {string} name
 * @returns {Histogram | undefined} the newest cumulative state of a histogram
 */
export function readHistogram(metrics, name) {
  const points = metrics
    .filter((metric) => metric.name === name)
    .flatMap((metric) => metric.histogram?.dataPoints ?? []);
  const newest = points.sort((a, b) => Number(a.timeUnixNano) - Number(b.timeUnixNano)).at(-1);
  if (!newest || Number(newest.count) === 0) return undefined;
  return {
    count: Number(newest.count),
    min: newest.min,
    max: newest.max,
    bounds: newest.explicitBounds,
    counts: newest.bucketCounts.map(Number),
  };
}

/** The value at a fraction (0 … 1) of a histogram, linear inside its bucket. */
export function histogramQuantile({ count, min, max, bounds, counts }, fraction) {
  const rank = fraction * count;
  let below = 0;
  for (const [i, inBucket] of counts.entries()) {
    if (below + inBucket >= rank && inBucket > 0) {
      const low = Math.max(bounds[i - 1] ?? 0, min ?? 0);
      const high = Math.min(bounds[i] ?? Infinity, max ?? Infinity);
      return low + (high - low) * ((rank - below) / inBucket);
    }
    below += inBucket;
  }
  return max;
}
