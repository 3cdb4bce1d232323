/** What the ledger asks about what runs. */
import type { Context, Span } from '@opentelemetry/api';

/** Asked on cold paths only. */
export interface Surroundings {
  /** The context of the async resource that is running; asked in its `after`. */
  readonly context: () => Context;
  /** The active context. */
  readonly active: () => Context;
  /** Type of the async resource that is running. */
  readonly resourceType: () => string | undefined;
  /** Unix time at which a span started, NaN where unknown. */
  readonly spanStart: (span: Span) => number;
  readonly lineage?: SpanLineage;
  /** What the kernel counted from `start` to `end`, a moment ago; undefined if that is unknown. */
  readonly threadTimes?: (start: number, end: number) => ThreadTimes | undefined;
}

/** Upper bounds, in milliseconds. */
export interface ThreadTimes {
  /** For how long this thread ran. */
  readonly ranAtMost: number;
  /** For how long it was ready to run and had no CPU. */
  readonly atMost: number;
}

/** What is known of the life of spans. Asked on cold paths only. */
export interface SpanLineage {
  /** Unix time at which a span ended; NaN while it is open, and where that is not known. */
  endOf(span: Span): number;
  /** The span around that of `context`; undefined where none began in this process. */
  parentOf(span: Span, context: Context): Span | undefined;
}

export const NO_LINEAGE: SpanLineage = {
  endOf: () => Number.NaN,
  parentOf: () => undefined,
};
