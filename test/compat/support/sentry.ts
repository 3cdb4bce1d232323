/** What `@sentry/node` sends: envelopes, lines of JSON, some of which hold spans. */
import type { ReadSpan } from '../../../demo/telemetry-reader.mjs';
import { startHttpReceiver } from './http-receiver.ts';
import { KINDS, type Receiver } from './receiver.ts';

interface Item {
  trace_id: string;
  span_id: string;
  parent_span_id?: string;
  name: string;
  start_timestamp: number;
  end_timestamp: number;
  attributes: Record<string, { value: string | number | boolean }>;
}

export async function startSentry(): Promise<Receiver> {
  const receiver = await startHttpReceiver(/^\/api\/1\/envelope\//);
  const [, host] = receiver.url.split('//');
  return {
    env: { SENTRY_DSN: `http://public@${host}/1` },
    spans: () => receiver.bodies().flatMap(readEnvelope),
    close: () => receiver.close(),
  };
}

function readEnvelope(body: Buffer): ReadSpan[] {
  const lines: { items?: Item[] }[] = body
    .toString()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  return lines.flatMap(({ items = [] }) => items).map(readItem);
}

function readItem(item: Item): ReadSpan {
  const attributes = Object.fromEntries(
    Object.entries(item.attributes).map(([key, { value }]) => [key, value] as const),
  );
  return {
    traceId: item.trace_id,
    spanId: item.span_id,
    parentSpanId: item.parent_span_id,
    name: item.name,
    kind: KINDS.indexOf(String(attributes['sentry.kind'] ?? 'internal')),
    // it does not say which instrumentation made a span
    scope: 'opentelemetry-instrumentation-event-loop',
    start: item.start_timestamp * 1e3,
    end: item.end_timestamp * 1e3,
    attributes,
    links: [],
  };
}
