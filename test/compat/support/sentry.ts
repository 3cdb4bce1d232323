/** What `@sentry/node` sends, as spans. */
import type { Span } from '../../../tools/otlp.cjs';
import { SentryReceiver, type SentrySpan } from '../../../tools/sentry-receiver.cjs';
import { KINDS, type Receiver } from './receiver.ts';

export async function startSentry(): Promise<Receiver> {
  const receiver = await SentryReceiver.listen();
  return {
    env: { SENTRY_DSN: receiver.dsn },
    spans: () => receiver.spans.map(readSpan),
    close: () => receiver.close(),
  };
}

function readSpan(span: SentrySpan): Span {
  const attributes = Object.fromEntries(
    Object.entries(span.attributes).map(([key, { value }]) => [key, value] as const),
  );
  return {
    traceId: span.trace_id,
    spanId: span.span_id,
    parentSpanId: span.parent_span_id,
    name: span.name,
    kind: KINDS.indexOf(String(attributes['sentry.kind'] ?? 'internal')),
    // it does not say which instrumentation made a span
    scope: 'opentelemetry-instrumentation-event-loop',
    start: span.start_timestamp * 1e3,
    end: span.end_timestamp * 1e3,
    seconds: span.end_timestamp - span.start_timestamp,
    attributes,
    links: [],
    resource: {},
  };
}
