/** Which request, in words, a block is attributed to. */
import { type Context, isSpanContextValid, trace } from '@opentelemetry/api';
import { type NamedSpan, operationOf } from '../otel/operation.ts';
import { rpcMetadataIn } from '../otel/sdk-internals.ts';
import type { AttributedRequest } from './block-line.ts';

export function attributedRequest(context: Context): AttributedRequest {
  const span = trace.getSpan(context);
  if (span === undefined || !isSpanContextValid(span.spanContext())) return {};
  const { traceId } = span.spanContext();
  const rpc = rpcMetadataIn(context);
  const request = operationOf(rpc?.span ?? {}, rpc?.route);
  const { name } = request.httpRoute === undefined ? operationOf(span as NamedSpan) : request;
  return { operation: name, traceId };
}
