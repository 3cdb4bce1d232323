/** Which request, in words, a block is attributed to. */

import { type Context, isSpanContextValid, type Span, SpanKind, trace } from '@opentelemetry/api';
import { madeByIn } from '../../otel/context-marks.ts';
import { entryOf } from '../../otel/entry-span.ts';
import { type NamedSpan, operationOf } from '../../otel/operation.ts';
import { isTracingSuppressed, rpcMetadataIn } from '../../otel/sdk-internals.ts';
import type { AttributedRequest } from '../../types.ts';

export function attributedRequest(context: Context): AttributedRequest {
  const made = madeByIn(context);
  if (made !== undefined) return { madeBy: attributedRequest(made).operation };
  const span = trace.getSpan(context);
  // An exporter at work has the span in its context that has ended last.
  if (span === undefined || isTracingSuppressed(context)) return {};
  // Without an SDK a request has a span, but no trace.
  const traceId = traceIdOf(span);
  const rpc = rpcMetadataIn(context);
  const { entry, operation } = entryOf(span, context);
  // A consumer that a request has started may have its context, and is no part of it.
  const isOfRequest = entry === undefined || (entry.kind === SpanKind.SERVER && isIn(rpc, traceId));
  const request = isOfRequest ? rpc : undefined;
  const named: NamedSpan = request?.span ?? entry ?? (span as NamedSpan);
  return { operation: operationOf(named, request?.route, operation).name, traceId };
}

const isIn = (rpc: ReturnType<typeof rpcMetadataIn>, traceId: string | undefined) =>
  rpc?.span !== undefined && traceIdOf(rpc.span) === traceId;

/** Undefined if it is in none. */
export function traceIdOf(span: Span): string | undefined {
  const ids = span.spanContext();
  return isSpanContextValid(ids) ? ids.traceId : undefined;
}
