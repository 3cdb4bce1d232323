// Jaeger's query API: traces as a person finds them.
import { getJson, send } from '../../../tools/http-client.cjs';

/**
 * @typedef {object} JaegerSpan
 * @property {string} traceId
 * @property {string} spanId
 * @property {string | undefined} parentId
 * @property {string} name
 * @property {number} startMillis
 * @property {number} durationMillis
 * @property {Record<string, any>} attributes
 * @property {{ traceId: string, spanId: string }[]} links
 */

/** @returns {JaegerSpan} */
function toSpan(span) {
  const attributes = Object.fromEntries(span.tags.map(({ key, value }) => [key, value]));
  const parent = span.references.find(
    ({ refType, traceID }) => refType === 'CHILD_OF' && traceID === span.traceID,
  );
  return {
    traceId: span.traceID,
    spanId: span.spanID,
    parentId: parent?.spanID,
    name: span.operationName,
    startMillis: span.startTime / 1000,
    durationMillis: span.duration / 1000,
    attributes,
    links: span.references
      .filter((reference) => reference !== parent)
      .map(({ traceID, spanID }) => ({ traceId: traceID, spanId: spanID })),
  };
}

/** @returns {Promise<JaegerSpan[]>} the spans of the trace, none while it is not there */
export async function readTrace(url, traceId) {
  const { status, body } = await send(`${url}/api/traces/${traceId}`);
  if (status === 404) return [];
  const { data } = JSON.parse(String(body));
  return (data ?? []).flatMap(({ spans }) => spans.map(toSpan));
}

/**
 * @param {string} url
 * @param {{ service: string, operation?: string, tags?: Record<string, string>,
 *   limit?: number }} query
 * @returns {Promise<JaegerSpan[][]>} one array a trace
 */
export async function findTraces(url, { tags, limit = 10_000, ...query }) {
  const parameters = new URLSearchParams({ ...query, limit: String(limit), lookback: '1h' });
  if (tags) parameters.set('tags', JSON.stringify(tags));
  const { data } = await getJson(`${url}/api/traces?${parameters}`);
  return (data ?? []).map(({ spans }) => spans.map(toSpan));
}
