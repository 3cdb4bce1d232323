/**
 * Which span covers a block: it began before it, and had not ended when the last of it ran. The
 * span of a block is a child, which must not start before its parent and is not to outlast it.
 */
import { type Context, type Span, trace } from '@opentelemetry/api';
import { NO_LINEAGE, type SpanLineage } from '../surroundings.ts';

/** A span may start or end by this much inside of its block: the callback's own preamble. */
const MAX_UNCOVERED_MILLIS = 2;
const MAX_UNCOVERED_SHARE = 0.02;
/** A block is attributed to a span that was not open for all of it only if it was for so much. */
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

  /**
   * Whether a span was open for most of the block, and for at least `minimum` of it.
   * @param isOver what ran after its end was not its own
   */
  showsMost(span: Span | undefined, space: BlockSpace, minimum: number, isOver: boolean): boolean {
    const end = (isOver ? this.endIn(span, space) : undefined) ?? space.end;
    const shown = end - space.start - Math.max(0, this.lateBy(span, space));
    return shown >= Math.max(minimum, (space.end - space.start) * MIN_SHOWN);
  }

  /** When a span ended inside the block; undefined where it did not. */
  endIn(span: Span | undefined, space: BlockSpace): number | undefined {
    if (span === undefined) return undefined;
    const end = space.start + this.lineage.endOf(span) - space.startEpoch;
    return end < space.end - allowed(space) ? end : undefined;
  }

  /**
   * The innermost span around that of `context` that covers the block and is around the others,
   * too; if none is, the innermost that covers the block; if none does, the outermost that was open
   * for most of it, and for at least `minimum`.
   */
  around(
    context: Context,
    space: BlockSpace,
    minimum: number,
    others: readonly Context[],
  ): Context | undefined {
    const otherLines = others.map((other) => new Set(this.#line(other).map(idOf)));
    const spansAround = this.#line(context).slice(1);
    const covering = spansAround.filter(
      (span) => this.endIn(span, space) === undefined && !this.isLate(span, space),
    );
    const isAroundAll = (span: Span) => otherLines.every((line) => line.has(idOf(span)));
    const found =
      covering.find(isAroundAll) ??
      covering[0] ??
      spansAround.findLast((span) => this.showsMost(span, space, minimum, true));
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
