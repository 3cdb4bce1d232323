/** Which request, in words, a block is attributed to. */
import { type Context, isSpanContextValid, type Span, trace } from '@opentelemetry/api';
import { madeByIn } from '../otel/context-marks.ts';
import { type NamedSpan, operationOf } from '../otel/operation.ts';
import { isTracingSuppressed, rpcMetadataIn } from '../otel/sdk-internals.ts';
import type { AttributedRequest } from './block-line.ts';

export function attributedRequest(context: Context): AttributedRequest {
  const made = madeByIn(context);
  if (made !== undefined) return { madeBy: attributedRequest(made).operation };
  const span = trace.getSpan(context);
  // An exporter at work has the span in its context that has ended last.
  if (span === undefined || isTracingSuppressed(context)) return {};
  // Without an SDK a request has a span, but no trace.
  const traceId = traceIdOf(span);
  const rpc = rpcMetadataIn(context);
  const request = operationOf(rpc?.span ?? {}, rpc?.route);
  const { name } = request.httpRoute === undefined ? operationOf(span as NamedSpan) : request;
  return { operation: name, traceId };
}

/** Undefined if it is in none. */
export function traceIdOf(span: Span): string | undefined {
  const ids = span.spanContext();
  return isSpanContextValid(ids) ? ids.traceId : undefined;
}
