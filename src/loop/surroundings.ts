/** What the ledger asks about what runs. */
import type { Context, Span } from '@opentelemetry/api';

/** Asked on cold paths only. */
export interface Surroundings {
  /** The context of the async resource that is running; asked in its `after`. */
  readonly context: () => Context;
  /** Type of the async resource that is running. */
  readonly resourceType: () => string | undefined;
  /** Unix time at which a span started, NaN where unknown. */
  readonly spanStart: (span: Span) => number;
}
