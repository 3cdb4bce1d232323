/** Which request or message a span is a part of. */
import { type Context, type Span, SpanKind } from '@opentelemetry/api';
import { graphqlOperationOf, type NamedSpan } from './operation.ts';
import { localParentOf } from './sdk-internals.ts';

/** Spans around a span. */
const MAX_DEPTH = 128;

type ParentOf = (span: Span, context: Context) => Span | undefined;

let parentOf: ParentOf = localParentOf;

/** @param find the span of this process around a span */
export function findParentsBy(find: ParentOf): void {
  parentOf = find;
}

type SomeSpan = Span & NamedSpan & { readonly kind?: SpanKind };

/** A request, or a message. */
export function isEntryKind({ kind }: { readonly kind?: SpanKind }): boolean {
  return kind === SpanKind.SERVER || kind === SpanKind.CONSUMER;
}

/**
 * The entry span around a span, or itself: a consumer that a request has started is no part of that
 * request. Undefined if none is known.
 * @returns with the GraphQL operation in which the span was
 */
export function entryOf(span: Span, context: Context): { entry?: SomeSpan; operation?: string } {
  let operation: string | undefined;
  let each: SomeSpan | undefined = span;
  for (let i = 0; each !== undefined && i < MAX_DEPTH; i++) {
    operation ??= graphqlOperationOf(each);
    if (isEntryKind(each)) return { entry: each, ...(operation && { operation }) };
    each = parentOf(each, context);
  }
  return operation === undefined ? {} : { operation };
}
