/**
 * How long one span was stalled by one block: as long as both lasted, without the time in which the
 * span ran.
 */
import { type Span, SpanKind } from '@opentelemetry/api';
import { spanStartedAt } from '../../otel/sdk-internals.ts';

/**
 * A shorter overlap is none: the SDK starts spans by `Date.now()`, which is cut to whole
 * milliseconds, so that a span which began right after a block seems to have begun inside it.
 */
export const MIN_STALL_MILLIS = 1;
/** A span's start is cut to whole milliseconds, and its clock may differ from that of blocks. */
export const MAX_CLOCK_ERROR_MILLIS = 10;

/**
 * For one that ran in the block, twice of that: it also runs before and after it is made active.
 */
const MIN_WAIT_MILLIS = 2 * MIN_STALL_MILLIS;
/**
 * Or this share of the time that both lasted: code that its own has called in the context of
 * another span (listeners of a response) does not count as its own, and short scopes do not count.
 */
const MIN_WAIT_SHARE = 0.05;

/** What is known of a block. Times are Unix times in milliseconds, but for one. */
export interface BlockTime {
  readonly start: number;
  readonly end: number;
  /** Ids of the span that the block is attributed to and of those around it. */
  readonly blockingSpanIds: ReadonlySet<string>;
  /** Milliseconds that other spans, and those around them, ran in it, by their ids. */
  readonly ranMillis?: ReadonlyMap<string, number> | undefined;
  /**
   * When it began, a time of `performance.now()`, if one callback made it: what began in it was
   * begun by it.
   */
  readonly callbackStart?: number | undefined;
}

/** A span, or as much of it as has been. Times are Unix times in milliseconds, but for one. */
export interface SpanTime {
  readonly spanId: string;
  readonly start: number;
  readonly end: number;
  /** When it began, a time of `performance.now()`: `start` may be cut to whole milliseconds. */
  readonly startedAt?: number | undefined;
  /** It waits for an answer from outside: `CLIENT`, `PRODUCER`. */
  readonly isRemoteCall?: boolean;
}

export function spanTimeOf(
  span: Span & { readonly kind?: SpanKind },
  start: number,
  end: number,
): SpanTime {
  return {
    spanId: span.spanContext().spanId,
    start,
    end,
    startedAt: spanStartedAt(span),
    isRemoteCall: span.kind === SpanKind.CLIENT || span.kind === SpanKind.PRODUCER,
  };
}

/** Milliseconds; 0 below {@link MIN_STALL_MILLIS}. */
export function stallIn(block: BlockTime, span: SpanTime): number {
  if (block.blockingSpanIds.has(span.spanId)) return 0;
  const ran = block.ranMillis?.get(span.spanId);
  return ran === undefined ? stallOfOther(block, span) : stallBeside(block, ran, span);
}

/** The same if the span ran for `ran` milliseconds of it, and others for the rest. */
function stallBeside(block: BlockTime, ran: number, span: SpanTime): number {
  const overlap = overlapOf(block, span);
  if (ran === 0) return overlap;
  const waited = overlap - ran;
  return waited >= Math.max(MIN_WAIT_MILLIS, overlap * MIN_WAIT_SHARE) ? waited : 0;
}

/** The same in a block in which the span was never active, as far as is known. */
export function stallOfOther(block: BlockTime, span: SpanTime): number {
  const overlap = overlapOf(block, span);
  return overlap === 0 || isBegunIn(block, span) ? 0 : overlap;
}

/** Milliseconds; 0 below {@link MIN_STALL_MILLIS}. */
export function overlapOf(
  a: Pick<BlockTime, 'start' | 'end'>,
  b: Pick<BlockTime, 'start' | 'end'>,
): number {
  const overlap = Math.min(a.end, b.end) - Math.max(a.start, b.start);
  return overlap >= MIN_STALL_MILLIS ? overlap : 0;
}

/**
 * A span that began in the callback that blocked, and was never active as far as is known, is taken
 * to be what that did; but not a call to another process, whose answer had to wait.
 */
function isBegunIn({ start, callbackStart }: BlockTime, span: SpanTime): boolean {
  if (callbackStart === undefined || span.isRemoteCall === true) return false;
  return span.startedAt === undefined ? span.start >= start : span.startedAt >= callbackStart;
}
