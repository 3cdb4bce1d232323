/** The spans that have started and not ended: who may be waiting while the loop is held, and who is around whom. */

import type { Context } from '@opentelemetry/api';
import { type Span, trace } from '@opentelemetry/api';
import { hrTimeToMillis } from '../hr-time.ts';
import { instrumentationScopeOf, parentSpanContextOf, spanStartTime } from '../otel.ts';
import { PACKAGE_NAME } from '../version.ts';

/** Spans that are never ended must not pile up: past this many, the oldest are forgotten. */
export const MAX_OPEN_SPANS = 10_000;
/** Spans around a span. */
const MAX_DEPTH = 128;

export class OpenSpans {
  /** Each with the span around it, also where that has ended. In the order of their start. */
  readonly #parents = new Map<Span, Span | undefined>();

  /** Hot: 60 ns with {@link delete}. */
  add(span: Span, parentContext: Context): void {
    this.#parents.set(span, trace.getSpan(parentContext));
    if (this.#parents.size > MAX_OPEN_SPANS) {
      for (const oldest of this.#parents.keys()) {
        this.#parents.delete(oldest);
        break;
      }
    }
  }

  /** Hot. Whether it was open. */
  delete(span: Span): boolean {
    return this.#parents.delete(span);
  }

  clear(): void {
    this.#parents.clear();
  }

  /** Adds the ids of a span and of those around it, as far as they began in this process. */
  addAncestry(span: Span, ids: Set<string>): void {
    let outermost: Span | undefined;
    let depth = 0;
    for (let s: Span | undefined = span; s !== undefined && depth < MAX_DEPTH; s = this.#parentOf(s)) {
      ids.add(s.spanContext().spanId);
      outermost = s;
      depth++;
    }
    const parent = outermost && parentSpanContextOf(outermost);
    if (parent === undefined || parent.isRemote === true || ids.has(parent.spanId)) return;
    // What was around it has ended. The request it belongs to may have not.
    for (const [open, around] of this.#parents) {
      const isLocalRoot = around === undefined || around.spanContext().isRemote === true;
      const { traceId, spanId } = open.spanContext();
      if (isLocalRoot && traceId === parent.traceId) ids.add(spanId);
    }
  }

  /** The span around a span, where either is open. */
  #parentOf(span: Span): Span | undefined {
    if (this.#parents.has(span)) return this.#parents.get(span);
    const id = parentSpanContextOf(span)?.spanId;
    if (id === undefined) return undefined;
    for (const open of this.#parents.keys()) {
      if (open.spanContext().spanId === id) return open;
    }
    return undefined;
  }

  /** Spans that were open at `time` (Unix time in milliseconds), without `culprits` and without blocks. */
  countWaiting(time: number, culprits: ReadonlySet<string>): number {
    let count = 0;
    for (const span of this.#parents.keys()) {
      if (culprits.has(span.spanContext().spanId) || isBlockSpan(span)) continue;
      const start = spanStartTime(span);
      if (start === undefined || hrTimeToMillis(start) < time) count++;
    }
    return count;
  }
}

/** A span of this package: it is what others wait for, and waits for nobody. */
export function isBlockSpan(span: Span): boolean {
  return instrumentationScopeOf(span) === PACKAGE_NAME;
}
