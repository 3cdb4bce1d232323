/** The latest blocks, for spans that end later to be compared with. */
import type { SpanContext } from '@opentelemetry/api';

/** Blocks that are remembered: at the default threshold, at least 100 s of blocked time. */
export const MAX_RECENT_BLOCKS = 1024;

/**
 * A shorter overlap is none: the SDK starts spans by `Date.now()`, which is cut to whole
 * milliseconds, so that a span which began right after a block seems to have begun inside it.
 */
export const MIN_STALL_MILLIS = 1;

/** The span of a block. It is remembered for long: it must not keep alive what blocked. */
export interface BlockSpan {
  /** May start the span. Undefined where the block has none, or none that is recorded. */
  spanContext(): SpanContext | undefined;
}

/** What stalled spans need of a block. Times are Unix times in milliseconds. */
export interface RecentBlock {
  readonly start: number;
  readonly end: number;
  /** Ids of the span that the block is attributed to and of those around it. */
  readonly blockingSpanIds: ReadonlySet<string>;
  readonly span: BlockSpan | undefined;
}

/** How long a span was stalled by blocks that it did not cause. */
export interface Stall {
  /** Milliseconds, each counted once. */
  readonly millis: number;
  /** The block it waited longest for, and how long; undefined where that has no span yet. */
  readonly longest: RecentBlock | undefined;
  readonly longestMillis: number;
  /** More blocks than are remembered fell into the span: `millis` is a lower bound. */
  readonly incomplete: boolean;
}

/** A ring. Blocks do not overlap each other. */
export class RecentBlocks {
  readonly #ring: RecentBlock[] = [];
  #next = 0;
  /** When the latest block ended. */
  #latestEnd = Number.NEGATIVE_INFINITY;
  /** When the latest of the forgotten ended. */
  #forgottenUntil = Number.NEGATIVE_INFINITY;

  add(block: RecentBlock): void {
    const oldest = this.#ring[this.#next];
    if (oldest !== undefined) this.#forgottenUntil = Math.max(this.#forgottenUntil, oldest.end);
    this.#ring[this.#next] = block;
    this.#next = (this.#next + 1) % MAX_RECENT_BLOCKS;
    this.#latestEnd = Math.max(this.#latestEnd, block.end);
  }

  /** Hot. Whether any block ended after `start`. */
  endedAfter(start: number): boolean {
    return this.#latestEnd > start;
  }

  /** How long the span was stalled from `start` to `end`. */
  stallOf(spanId: string, start: number, end: number): Stall {
    let millis = 0;
    let longest: RecentBlock | undefined;
    let longestMillis = 0;
    for (const block of this.#ring) {
      const overlap = Math.min(end, block.end) - Math.max(start, block.start);
      if (!(overlap >= MIN_STALL_MILLIS) || block.blockingSpanIds.has(spanId)) continue;
      millis += overlap;
      if (overlap > longestMillis) {
        longest = block;
        longestMillis = overlap;
      }
    }
    return { millis, longest, longestMillis, incomplete: this.#forgottenUntil > start };
  }
}
