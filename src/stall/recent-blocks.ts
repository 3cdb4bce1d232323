/** The latest blocks, for spans that end later to be compared with. */
import type { SpanContext } from '@opentelemetry/api';
import { type BlockTime, type SpanTime, stallIn } from './span-time.ts';

/** Blocks that are remembered: at the default threshold, at least 100 s of blocked time. */
export const MAX_RECENT_BLOCKS = 1024;

/** The span of a block. It is remembered for long: it must not keep alive what blocked. */
export interface BlockSpan {
  /** May start the span. Undefined where the block has none, or none that is recorded. */
  spanContext(): SpanContext | undefined;
  /** An entry span may have waited for the block before it began. */
  addQueued?(): void;
}

/** What stalled spans need of a block. */
export interface RecentBlock extends BlockTime {
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

  /** How long a span that has ended was stalled. */
  stallOf(span: SpanTime): Stall {
    let millis = 0;
    let longest: RecentBlock | undefined;
    let longestMillis = 0;
    for (const block of this.#ring) {
      const stalled = stallIn(block, span);
      millis += stalled;
      if (stalled > longestMillis) {
        longest = block;
        longestMillis = stalled;
      }
    }
    return { millis, longest, longestMillis, incomplete: this.#forgottenUntil > span.start };
  }
}
