/** Which request, in words, a block is attributed to. */
import { type Context, isSpanContextValid, type Span, trace } from '@opentelemetry/api';
import { rpcMetadataIn } from '../otel/sdk-internals.ts';
import type { AttributedRequest } from './block-line.ts';

export function attributedRequest(context: Context): AttributedRequest {
  const span = trace.getSpan(context);
  if (span === undefined || !isSpanContextValid(span.spanContext())) return {};
  return { operation: route(context) ?? nameOf(span), traceId: span.spanContext().traceId };
}

/** `GET /users/:id`; the path if the framework has set no route. */
function route(context: Context): string | undefined {
  const rpc = rpcMetadataIn(context);
  const attributes = rpc?.span?.attributes;
  // The names before semantic conventions 1.23, too: instrumentations may still use them.
  const method = attributes?.['http.request.method'] ?? attributes?.['http.method'];
  const path = attributes?.['url.path'] ?? String(attributes?.['http.target'] ?? '').split('?')[0];
  const where = rpc?.route || path;
  return typeof method === 'string' && where ? `${method} ${where}` : undefined;
}

/** A span of the SDK has a name, one of the API has none. */
function nameOf(span: Span): string | undefined {
  const { name } = span as { name?: unknown };
  return typeof name === 'string' ? name : undefined;
}
