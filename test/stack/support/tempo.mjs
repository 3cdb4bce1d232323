// Tempo's HTTP API.
import { getJson, send } from '../../../tools/http-client.cjs';

/**
 * @returns {Promise<{ traceID: string, spanSets: any[] }[]>} traces with a span that TraceQL finds
 */
export async function search(url, traceQl) {
  const { traces } = await getJson(
    `${url}/api/search?${new URLSearchParams({ q: traceQl, limit: '100' })}`,
  );
  return traces ?? [];
}

/** @returns {Promise<any[]>} the spans of the trace as OTLP JSON, none while it is not there */
export async function readTrace(url, traceId) {
  const { status, body } = await send(`${url}/api/v2/traces/${traceId}`, {
    headers: { accept: 'application/json' },
  });
  if (status === 404) return [];
  const { trace } = JSON.parse(String(body));
  return (trace?.resourceSpans ?? []).flatMap(({ scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) => spans),
  );
}
