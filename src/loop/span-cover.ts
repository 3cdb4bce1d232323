/**
 * Which span covers a block: it began before it, and had not ended when the last of it ran. The
 * span of a block is a child, which must not start before its parent and is not to outlast it.
 */
import { type Context, type Span, trace } from '@opentelemetry/api';
import { NO_LINEAGE, type SpanLineage } from './surroundings.ts';

/** A span may start or end by this much inside of its block: the callback's own preamble. */
const MAX_UNCOVERED_MILLIS = 2;
const MAX_UNCOVERED_SHARE = 0.02;
/** A block is attributed to a span that started later only if this share of it is left. */
const MIN_SHOWN = 0.75;
/** Spans around a span. */
const MAX_DEPTH = 128;

/** A block, or a part of one. */
export interface BlockSpace {
  readonly start: number;
  readonly end: number;
  /** Unix time of the start. */
  readonly startEpoch: number;
}

export class SpanCover {
  constructor(
    /** Unix time in milliseconds at which a span started, or NaN where the SDK does not say. */
    private readonly spanStart: (span: Span) => number,
    private readonly lineage: SpanLineage = NO_LINEAGE,
  ) {}

  /** By how much a span started after the block. */
  lateBy(span: Span | undefined, { startEpoch }: BlockSpace): number {
    const spanStart = span === undefined ? Number.NaN : this.spanStart(span);
    return Number.isNaN(spanStart) ? 0 : spanStart - startEpoch;
  }

  isLate(span: Span | undefined, space: BlockSpace): boolean {
    return this.lateBy(span, space) > allowed(space);
  }

  /** Whether a span that started late shows most of the block, and at least `minimum` of it. */
  showsMost(span: Span | undefined, space: BlockSpace, minimum: number): boolean {
    const length = space.end - space.start;
    return length - this.lateBy(span, space) >= Math.max(minimum, length * MIN_SHOWN);
  }

  /** When a span ended inside the block; undefined where it did not. */
  endIn(span: Span | undefined, space: BlockSpace): number | undefined {
    if (span === undefined) return undefined;
    const end = space.start + this.lineage.endOf(span) - space.startEpoch;
    return end < space.end - allowed(space) ? end : undefined;
  }

  /**
   * The innermost span around that of `context` that covers the block and is around the others,
   * too; if none is, the innermost that covers the block; if none does, the outermost that shows
   * most of it, and at least `minimum`.
   */
  around(
    context: Context,
    space: BlockSpace,
    minimum: number,
    others: readonly Context[],
  ): Context | undefined {
    const otherLines = others.map((other) => new Set(this.#line(other).map(idOf)));
    const open = this.#line(context)
      .slice(1)
      .filter((span) => this.endIn(span, space) === undefined);
    const covering = open.filter((span) => !this.isLate(span, space));
    const isAroundAll = (span: Span) => otherLines.every((line) => line.has(idOf(span)));
    const found =
      covering.find(isAroundAll) ??
      covering[0] ??
      open.findLast((span) => this.showsMost(span, space, minimum));
    return found && trace.setSpan(context, found);
  }

  /** The span of a context, and those around it. */
  #line(context: Context): Span[] {
    const line: Span[] = [];
    for (
      let span = trace.getSpan(context);
      span !== undefined && line.length < MAX_DEPTH;
      span = this.lineage.parentOf(span, context)
    )
      line.push(span);
    return line;
  }
}

/** What is shorter than this is within the tolerance. */
export function allowed({ start, end }: BlockSpace): number {
  return Math.max(MAX_UNCOVERED_MILLIS, (end - start) * MAX_UNCOVERED_SHARE);
}

const idOf = (span: Span) => span.spanContext().spanId;
