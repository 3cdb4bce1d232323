// Guarantees: export requests of OTLP as JSON, read: spans with times in milliseconds and plain
// attributes, trees of spans, metrics.
// What was not exported is undefined or empty.

const BLOCK_SPAN = 'event-loop-blocked';

/**
 * @typedef {Record<string, any>} Attributes
 *
 * @typedef {object} Span
 * @property {string} traceId
 * @property {string} spanId
 * @property {string | undefined} parentSpanId
 * @property {string} name
 * @property {number} kind as OTLP counts, from 1
 * @property {string} scope name of the instrumentation that made it
 * @property {number} start epoch milliseconds
 * @property {number} end epoch milliseconds
 * @property {number} seconds from start to end
 * @property {Attributes} attributes
 * @property {{ traceId: string, spanId: string }[]} links
 * @property {Attributes} resource
 *
 * @typedef {object} LogRecord
 * @property {string} eventName
 * @property {string} body
 * @property {string} severityText
 * @property {string | undefined} traceId
 * @property {string | undefined} spanId
 * @property {string} scope
 * @property {number} time epoch milliseconds
 * @property {Attributes} attributes
 * @property {Attributes} resource
 *
 * @typedef {object} Trace
 * @property {Span} root
 * @property {{ span: Span, depth: number, last: boolean[] }[]} rows depth first; `last` says for
 *   every level whether the branch ends there
 *
 * @typedef {{ name: string, resource: Attributes } & Record<string, any>} Metric as exported, but
 *   for the resource
 */

/** @param {any} value */
function plainValue(value) {
  if (value.arrayValue) return (value.arrayValue.values ?? []).map(plainValue);
  if (value.intValue !== undefined) return Number(value.intValue);
  return value.stringValue ?? value.doubleValue ?? value.boolValue;
}

/** @returns {Attributes} */
function plainAttributes(/** @type {{ key: string, value: object }[]} */ attributes = []) {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, plainValue(value)]));
}

/**
 * @param {any[]} requests
 * @returns {Span[]} every span of the export requests
 */
function readSpans(requests) {
  return requests
    .flatMap(({ resourceSpans = [] }) => resourceSpans)
    .flatMap(({ resource, scopeSpans = [] }) =>
      scopeSpans.flatMap((/** @type {any} */ { scope, spans = [] }) =>
        spans.map((/** @type {any} */ span) =>
          readSpan(span, scope, plainAttributes(resource?.attributes)),
        ),
      ),
    );
}

/**
 * @param {any} span
 * @param {{ name?: string } | undefined} scope
 * @param {Attributes} resource
 * @returns {Span}
 */
function readSpan(span, scope, resource) {
  const [start, end] = [Number(span.startTimeUnixNano), Number(span.endTimeUnixNano)];
  return {
    traceId: span.traceId,
    spanId: span.spanId,
    parentSpanId: span.parentSpanId || undefined,
    name: span.name,
    kind: span.kind,
    scope: scope?.name ?? '',
    start: start / 1e6,
    end: end / 1e6,
    seconds: (end - start) / 1e9,
    attributes: plainAttributes(span.attributes),
    links: (span.links ?? []).map((/** @type {any} */ { traceId, spanId }) => ({
      traceId,
      spanId,
    })),
    resource,
  };
}

/**
 * @param {any[]} requests
 * @returns {Metric[]} every state of every metric, in the order in which they were exported
 */
function readMetrics(requests) {
  return requests
    .flatMap(({ resourceMetrics = [] }) => resourceMetrics)
    .flatMap(({ resource, scopeMetrics = [] }) =>
      scopeMetrics.flatMap((/** @type {any} */ { metrics = [] }) =>
        metrics.map((/** @type {any} */ metric) => ({
          ...metric,
          resource: plainAttributes(resource?.attributes),
        })),
      ),
    );
}

/**
 * @param {any[]} requests
 * @returns {LogRecord[]} every log record of the export requests
 */
function readLogs(requests) {
  return requests
    .flatMap(({ resourceLogs = [] }) => resourceLogs)
    .flatMap(({ resource, scopeLogs = [] }) =>
      scopeLogs.flatMap((/** @type {any} */ { scope, logRecords = [] }) =>
        logRecords.map((/** @type {any} */ record) => ({
          eventName: record.eventName ?? '',
          body: plainValue(record.body ?? {}),
          severityText: record.severityText ?? '',
          traceId: record.traceId || undefined,
          spanId: record.spanId || undefined,
          scope: scope?.name ?? '',
          time: Number(record.timeUnixNano) / 1e6,
          attributes: plainAttributes(record.attributes),
          resource: plainAttributes(resource?.attributes),
        })),
      ),
    );
}

/**
 * @param {Span[]} spans
 * @returns {Trace[]} one for each root span, by start time; a span whose parent was never exported
 *   is a root, too
 */
function readTraces(spans) {
  const ids = new Set(spans.map((span) => span.spanId));
  /** @type {Map<string | undefined, Span[]>} */
  const children = new Map();
  for (const span of spans) {
    const parent = ids.has(span.parentSpanId ?? '') ? span.parentSpanId : undefined;
    children.set(parent, [...(children.get(parent) ?? []), span]);
  }
  const below = (/** @type {string | undefined} */ parent) =>
    (children.get(parent) ?? []).sort((a, b) => a.start - b.start);
  /** @returns {Trace['rows']} */
  function rowsBelow(/** @type {Span} */ span, /** @type {boolean[]} */ last) {
    return below(span.spanId).flatMap((child, i, all) => {
      const row = { span: child, depth: last.length + 1, last: [...last, i === all.length - 1] };
      return [row, ...rowsBelow(child, row.last)];
    });
  }
  return below(undefined).map((root) => ({
    root,
    rows: [{ span: root, depth: 0, last: [] }, ...rowsBelow(root, [])],
  }));
}

module.exports = { BLOCK_SPAN, plainAttributes, readLogs, readMetrics, readSpans, readTraces };
