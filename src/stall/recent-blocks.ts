/** The latest blocks, for spans that end later to be compared with. */
import type { SpanContext } from '@opentelemetry/api';

/** Blocks that are remembered. At the default threshold, they are at least 100 s of a loop that was held. */
export const MAX_RECENT_BLOCKS = 1024;

/**
 * A shorter overlap is none: the SDK starts spans by `Date.now()`, which is cut to whole milliseconds, so that a span which began right
 * after a block seems to have begun inside it.
 */
export const MIN_STALL_MILLIS = 1;

/** A block as those who had to wait see it. Times are Unix times in milliseconds. */
export interface RecentBlock {
  readonly start: number;
  readonly end: number;
  /** Ids of the spans that held the loop: the one it was blamed on and those around it. */
  readonly culprits: ReadonlySet<string>;
  /** Of the block's own span, which may be started for it; undefined where the block has none. */
  spanContext(): SpanContext | undefined;
}

/** What a span had to wait for blocks that it did not cause. */
export interface Stall {
  /** Milliseconds, each counted once. */
  readonly millis: number;
  /** The block it waited longest for, and how long; undefined where that has no span yet. */
  readonly longest: RecentBlock | undefined;
  readonly longestMillis: number;
  /** More blocks than are remembered fell into the span: it waited longer than `millis`. */
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

  /** What the span had to wait from `start` to `end`. */
  stallOf(spanId: string, start: number, end: number): Stall {
    let millis = 0;
    let longest: RecentBlock | undefined;
    let longestMillis = 0;
    for (const block of this.#ring) {
      const overlap = Math.min(end, block.end) - Math.max(start, block.start);
      if (!(overlap >= MIN_STALL_MILLIS) || block.culprits.has(spanId)) continue;
      millis += overlap;
      if (overlap > longestMillis) {
        longest = block;
        longestMillis = overlap;
      }
    }
    return { millis, longest, longestMillis, incomplete: this.#forgottenUntil > start };
  }
}
