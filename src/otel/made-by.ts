/**
 * The context of a block that belongs to no request: it ran in a callback of something that
 * outlives requests, such as a pooled connection, and has a link to the span of the request that
 * made it.
 */
import {
  type Context,
  createContextKey,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
} from '@opentelemetry/api';

const MADE_BY = createContextKey('event loop: made by');

/** One context for each span: blocks and votes of the same one add up. */
const contexts = new WeakMap<Span, Context>();

export function contextMadeBy(span: Span): Context {
  const known = contexts.get(span);
  if (known !== undefined) return known;
  const context = ROOT_CONTEXT.setValue(MADE_BY, span.spanContext());
  contexts.set(span, context);
  return context;
}

/** The target of the link of the block's span; undefined if the context is another one. */
export function madeByIn(context: Context | undefined): SpanContext | undefined {
  return context?.getValue(MADE_BY) as SpanContext | undefined;
}
