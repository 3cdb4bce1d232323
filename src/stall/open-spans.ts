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
/** Open local roots of one trace, of which any may be the request of a span. */
const MAX_LOCAL_ROOTS = 128;

/**
 * A span is added when it starts, and not taken out when it ends: that would cost every span a
 * lookup. Those that have ended are swept out together, when they may be half of all, or when a
 * block finds that they are.
 */
export class OpenSpans {
  /** In the order of their start. */
  #spans: Span[] = [];
  /** Of each span the one around it, also where that has ended. */
  #parents: (Span | undefined)[] = [];
  #sweepAt = MIN_SWEPT;
  /**
   * Indices by span id, and the ids of local roots by trace id. Made only when a block or a pile-up
   * asks, and then for the spans that were added since: once for each span.
   */
  #indices = new Map<string, number>();
  #localRoots = new Map<string, string[]>();
  #indexed = 0;

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
    this.#forgetIndex();
  }

  /** Open spans that had begun when a block ended, without those that ran in it, and blocks. */
  countStalled(block: BlockTime): number {
    if (this.#spans.length >= MAX_OPEN_SPANS) this.#sweep();
    let open = 0;
    let stalled = 0;
    for (const span of this.#spans) {
      if (!span.isRecording()) continue;
      open++;
      if (isStalled(span, block)) stalled++;
    }
    // Not for each block: the index would have to be made anew.
    if (2 * open < this.#spans.length) this.#sweep();
    return stalled;
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
    this.#index();
    for (const id of this.#localRoots.get(parent.traceId) ?? []) ids.add(id);
  }

  /** The span around a span, where either is known here. */
  parentOf(span: Span): Span | undefined {
    this.#index();
    const index = this.#indices.get(span.spanContext().spanId);
    if (index !== undefined && this.#spans[index] === span) return this.#parents[index];
    const id = parentSpanContextOf(span)?.spanId;
    const parent = id === undefined ? undefined : this.#indices.get(id);
    return parent === undefined ? undefined : this.#spans[parent];
  }

  #index(): void {
    while (this.#indexed < this.#spans.length) {
      const i = this.#indexed++;
      const { traceId, spanId } = (this.#spans[i] as Span).spanContext();
      this.#indices.set(spanId, i);
      const around = this.#parents[i];
      if (around !== undefined && around.spanContext().isRemote !== true) continue;
      const roots = this.#localRoots.get(traceId);
      if (roots === undefined) this.#localRoots.set(traceId, [spanId]);
      else if (roots.length < MAX_LOCAL_ROOTS) roots.push(spanId);
    }
  }

  #forgetIndex(): void {
    if (this.#indexed === 0) return;
    this.#indices = new Map();
    this.#localRoots = new Map();
    this.#indexed = 0;
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
    this.#forgetIndex();
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
