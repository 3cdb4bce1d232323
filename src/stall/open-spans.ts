/** The spans that have started and not ended, and which of them is around which. */
import { type Context, type Span, trace } from '@opentelemetry/api';
import { hrTimeToMillis } from '../otel/hr-time.ts';
import {
  instrumentationScopeOf,
  parentSpanContextOf,
  spanStartTime,
} from '../otel/sdk-internals.ts';
import { PACKAGE_NAME } from '../version.ts';
import { type BlockTime, hasRunIn, spanTimeOf, stallIn } from './span-time.ts';

/** Spans that are never ended must not pile up: past this many, the older half is forgotten. */
export const MAX_OPEN_SPANS = 10_000;
/**
 * The most that are kept, ended ones among them: with so much room between two sweeps, these cost
 * little.
 */
const MAX_KEPT_SPANS = 1.25 * MAX_OPEN_SPANS;
/** With fewer spans than this a sweep is not worth it. */
const MIN_SWEPT = 256;
/** Spans around a span. */
const MAX_DEPTH = 128;

/**
 * A span is added when it starts, and not taken out when it ends: that would cost every span a
 * lookup. Those that have ended are swept out together, when they may be half of all, or when a
 * block has ended.
 */
export class OpenSpans {
  /** In the order of their start. */
  #spans: Span[] = [];
  /** Of each span the one around it, also where that has ended. */
  #parents: (Span | undefined)[] = [];
  #sweepAt = MIN_SWEPT;

  /** Hot. */
  add(span: Span, parentContext: Context): void {
    if (this.#spans.length >= this.#sweepAt) this.#sweep();
    this.#spans.push(span);
    this.#parents.push(trace.getSpan(parentContext));
  }

  clear(): void {
    this.#spans = [];
    this.#parents = [];
    this.#sweepAt = MIN_SWEPT;
  }

  /** Open spans that had begun when a block ended, without those that ran in it, and blocks. */
  countStalled(block: BlockTime): number {
    this.#sweep();
    let count = 0;
    for (const span of this.#spans) if (isStalled(span, block)) count++;
    return count;
  }

  /** Adds the ids of a span and of those around it, as far as they began in this process. */
  addAncestry(span: Span, ids: Set<string>): void {
    let outermost: Span | undefined;
    let depth = 0;
    for (
      let s: Span | undefined = span;
      s !== undefined && depth < MAX_DEPTH;
      s = this.parentOf(s)
    ) {
      ids.add(s.spanContext().spanId);
      outermost = s;
      depth++;
    }
    const parent = outermost && parentSpanContextOf(outermost);
    if (parent === undefined || parent.isRemote === true || ids.has(parent.spanId)) return;
    // What was around it has ended. The request it belongs to may have not.
    for (const [i, open] of this.#spans.entries()) {
      const around = this.#parents[i];
      const isLocalRoot = around === undefined || around.spanContext().isRemote === true;
      const { traceId, spanId } = open.spanContext();
      if (isLocalRoot && traceId === parent.traceId) ids.add(spanId);
    }
  }

  /** The span around a span, where either is known here. */
  parentOf(span: Span): Span | undefined {
    const index = this.#spans.lastIndexOf(span);
    if (index !== -1) return this.#parents[index];
    const id = parentSpanContextOf(span)?.spanId;
    return id === undefined
      ? undefined
      : this.#spans.find((open) => open.spanContext().spanId === id);
  }

  #sweep(): void {
    const spans: Span[] = [];
    const parents: (Span | undefined)[] = [];
    for (const [i, span] of this.#spans.entries()) {
      if (!span.isRecording()) continue;
      spans.push(span);
      parents.push(this.#parents[i]);
    }
    const surplus = spans.length >= MAX_OPEN_SPANS ? spans.length - MAX_OPEN_SPANS / 2 : 0;
    this.#spans = surplus > 0 ? spans.slice(surplus) : spans;
    this.#parents = surplus > 0 ? parents.slice(surplus) : parents;
    this.#sweepAt = Math.min(MAX_KEPT_SPANS, Math.max(MIN_SWEPT, 2 * this.#spans.length));
  }
}

/** Of a span that is open. */
function isStalled(span: Span, block: BlockTime): boolean {
  if (isBlockSpan(span)) return false;
  const startTime = spanStartTime(span);
  const start = startTime === undefined ? Number.NEGATIVE_INFINITY : hrTimeToMillis(startTime);
  if (start >= block.end) return false;
  const time = spanTimeOf(span, start, block.end);
  return !hasRunIn(block, time) || stallIn(block, time) > 0;
}

/** A span of this package: the span of a block is not stalled itself. */
export function isBlockSpan(span: Span): boolean {
  return instrumentationScopeOf(span) === PACKAGE_NAME;
}
