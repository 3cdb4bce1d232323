/**
 * For which request or message code ran: the route of the entry span, else its name.
 *
 * Guarantees: a route that the framework sets later is found, since the span is asked again when it
 * has ended; also if the trace is not sampled, as far as instrumentations leave the route in the
 * context.
 */
import { type Context, isSpanContextValid, type Span, trace } from '@opentelemetry/api';
import type { SpanFacts } from '../detect/running-code.ts';
import { type NamedSpan, nonEmpty, type Operation, operationOf } from '../otel/operation.ts';
import { isTracingSuppressed, rpcMetadataIn, spanEndTime } from '../otel/sdk-internals.ts';

/** Spans around a span. */
const MAX_DEPTH = 128;

type SdkSpan = Span & NamedSpan;

export class EntryOperation {
  readonly #entry: SdkSpan | undefined;
  readonly #rpc: { readonly route?: unknown } | undefined;
  /** The name of a GraphQL operation: all of them have one route. */
  readonly #graphql: string | undefined;

  constructor(context: Context, parentOf: SpanFacts['parentOf']) {
    if (isTracingSuppressed(context)) return;
    let entry: SdkSpan | undefined;
    let graphql: string | undefined;
    let span: SdkSpan | undefined = trace.getSpan(context);
    for (let depth = 0; span !== undefined && depth < MAX_DEPTH; depth++) {
      entry = span;
      if (span.attributes?.['graphql.operation.type'] !== undefined) graphql = nonEmpty(span.name);
      span = parentOf(span, context);
    }
    if (entry === undefined || !isSpanContextValid(entry.spanContext())) return;
    const rpc = rpcMetadataIn(context);
    this.#entry = entry;
    this.#graphql = graphql;
    if (rpc?.span?.spanContext().traceId === entry.spanContext().traceId) this.#rpc = rpc;
  }

  /** Whether asking later may bring more. */
  get isOpen(): boolean {
    return this.#entry !== undefined && spanEndTime(this.#entry) === undefined;
  }

  read(): Operation {
    const entry = this.#entry;
    if (entry === undefined) return {};
    return operationOf(entry, this.#rpc?.route, this.#graphql);
  }
}
