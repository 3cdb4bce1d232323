// Turns OTLP JSON into what the report shows: traces as trees of spans with times in milliseconds, and a histogram.
// Shows what was exported and invents nothing; what is not there is undefined or empty.

export const BLOCK_SPAN = 'event-loop-blocked';
export const STALL_ATTRIBUTE = 'event_loop.stall.duration';
export const LAG_METRIC = 'event_loop.lag';

/**
 * @typedef {object} Span
 * @property {string} traceId
 * @property {string} spanId
 * @property {string | undefined} parentSpanId
 * @property {string} name
 * @property {number} kind as OTLP counts
 * @property {string} scope name of the instrumentation that made it
 * @property {number} start epoch milliseconds
 * @property {number} end epoch milliseconds
 * @property {Record<string, unknown>} attributes
 * @property {{ traceId: string, spanId: string }[]} links
 *
 * @typedef {object} Trace
 * @property {Span} root
 * @property {{ span: Span, depth: number, last: boolean[] }[]} rows depth first; `last` tells for every level whether
 *   the branch ends there
 *
 * @typedef {object} Histogram times in seconds, as exported
 * @property {number} count
 * @property {number} min
 * @property {number} max
 * @property {number[]} bounds
 * @property {number[]} counts one more than there are bounds
 */

const millis = (unixNano) => Number(unixNano) / 1e6;

function plainValue(value) {
  if (value.arrayValue) return (value.arrayValue.values ?? []).map(plainValue);
  if (value.intValue !== undefined) return Number(value.intValue);
  return value.stringValue ?? value.doubleValue ?? value.boolValue;
}

const plainAttributes = (attributes = []) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, plainValue(value)]));

/** @returns {Span[]} every span of the export requests */
export function readSpans(requests) {
  return requests
    .flatMap((request) => request.resourceSpans ?? [])
    .flatMap((resource) => resource.scopeSpans ?? [])
    .flatMap(({ scope, spans }) => (spans ?? []).map((span) => ({ span, scope: scope?.name ?? '' })))
    .map(({ span, scope }) => ({
      traceId: span.traceId,
      spanId: span.spanId,
      parentSpanId: span.parentSpanId || undefined,
      name: span.name,
      kind: span.kind,
      scope,
      start: millis(span.startTimeUnixNano),
      end: millis(span.endTimeUnixNano),
      attributes: plainAttributes(span.attributes),
      links: (span.links ?? []).map(({ traceId, spanId }) => ({ traceId, spanId })),
    }));
}

/** @returns {Trace[]} one for each root span, by start time; a span whose parent was never exported is a root, too */
export function readTraces(spans) {
  const ids = new Set(spans.map((span) => span.spanId));
  const children = groupBy(spans, parentOf);
  function parentOf(span) {
    return ids.has(span.parentSpanId) ? span.parentSpanId : undefined;
  }
  function rowsBelow(span, last) {
    const below = (children.get(span.spanId) ?? []).sort((a, b) => a.start - b.start);
    return below.flatMap((child, i) => {
      const row = { span: child, depth: last.length + 1, last: [...last, i === below.length - 1] };
      return [row, ...rowsBelow(child, row.last)];
    });
  }
  return (children.get(undefined) ?? [])
    .sort((a, b) => a.start - b.start)
    .map((root) => ({ root, rows: [{ span: root, depth: 0, last: [] }, ...rowsBelow(root, [])] }));
}

/** `Map.groupBy`, which Node 20 does not have. */
function groupBy(items, keyOf) {
  const groups = new Map();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group) group.push(item);
    else groups.set(keyOf(item), [item]);
  }
  return groups;
}

/** @returns {string | undefined} the path a trace's root span was a request for */
export function requestPath({ root }) {
  const path = root.attributes['url.path'] ?? root.attributes['http.target'];
  return path?.split('?')[0];
}

/** @returns {Span[]} */
export const blocksOf = (trace) =>
  trace.rows.map((row) => row.span).filter((span) => span.name === BLOCK_SPAN);

/** The spans of a trace that were stalled: for how many seconds, and for whom. */
export const stallsOf = (trace) =>
  trace.rows
    .map((row) => row.span)
    .filter((span) => span.attributes[STALL_ATTRIBUTE] > 0)
    .map(({ attributes, links }) => ({ seconds: attributes[STALL_ATTRIBUTE], links }));

/** @returns {Histogram | undefined} the newest cumulative state of a histogram */
export function readHistogram(requests, name) {
  const points = requests
    .flatMap((request) => request.resourceMetrics ?? [])
    .flatMap((resource) => resource.scopeMetrics ?? [])
    .flatMap((scope) => scope.metrics ?? [])
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

/** The value at a fraction (0 … 1) of numbers that are all there. */
export function quantile(values, fraction) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(fraction * sorted.length))];
}
