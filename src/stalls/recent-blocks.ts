/** The latest blocks, for spans that end later to be compared with. */
import type { SpanContext } from '@opentelemetry/api';
import { type BlockTime, type SpanTime, stallBetween, stallIn } from './span-time.ts';
import type { NamedBlock, StallCause, Wait } from './stalled-requests.ts';

/** Blocks that are remembered: at the default threshold, at least 100 s of blocked time. */
export const MAX_RECENT_BLOCKS = 1024;

/** The span of a block. It is remembered for long: it must not keep alive what blocked. */
export interface BlockSpan {
  /** May start the span. Undefined where the block has none, or none that is recorded. */
  spanContext(): SpanContext | undefined;
  /** An entry span may have waited for the block before it began. */
  addQueued?(): void;
  /**
   * Calls `listener` once: when the block is reported, or now if that is never done. The block is
   * not known by any name if this is absent.
   */
  onReported?(listener: (block: NamedBlock) => void): void;
}

/** What stalled spans need of a block. */
export interface RecentBlock extends BlockTime {
  readonly span: BlockSpan | undefined;
  readonly cause: StallCause;
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
  /** How long for each block; they add up to `millis`. Of entry spans only. */
  readonly waits?: readonly Wait[] | undefined;
}

/**
 * A ring. Blocks do not overlap each other. A span may have waited for all of them, and each block
 * has its own sets of spans: those of a span are found by its id, and for all others times are
 * enough, which stand side by side in memory (1024 blocks: 5 µs; with lookups in each 300 µs).
 */
export class RecentBlocks {
  readonly #ring: RecentBlock[] = [];
  readonly #starts = new Float64Array(MAX_RECENT_BLOCKS);
  readonly #ends = new Float64Array(MAX_RECENT_BLOCKS);
  readonly #callbackStarts = new Float64Array(MAX_RECENT_BLOCKS);
  /** When the latest had ended of a block and those before it: a pile-up comes after its parts. */
  readonly #latestEnds = new Float64Array(MAX_RECENT_BLOCKS);
  /** The numbers of the blocks that a span made or ran in, by its id; the oldest comes first. */
  readonly #numbersById = new Map<string, number[]>();
  /** How many blocks there have been; they are numbered from 0. */
  #count = 0;
  /** When the latest block ended. */
  #latestEnd = Number.NEGATIVE_INFINITY;
  /** When the latest of the forgotten ended. */
  #forgottenUntil = Number.NEGATIVE_INFINITY;

  add(block: RecentBlock): void {
    const number = this.#count++;
    const slot = number % MAX_RECENT_BLOCKS;
    const oldest = this.#ring[slot];
    if (oldest !== undefined) this.#forget(oldest);
    this.#ring[slot] = block;
    this.#starts[slot] = block.start;
    this.#ends[slot] = block.end;
    this.#callbackStarts[slot] = block.callbackStart ?? Number.NaN;
    this.#latestEnd = Math.max(this.#latestEnd, block.end);
    this.#latestEnds[slot] = this.#latestEnd;
    for (const id of spanIdsOf(block)) {
      const numbers = this.#numbersById.get(id);
      if (numbers === undefined) this.#numbersById.set(id, [number]);
      else numbers.push(number);
    }
  }

  /** Hot. Whether any block ended after `start`. */
  endedAfter(start: number): boolean {
    return this.#latestEnd > start;
  }

  /**
   * Hot. How long a span that has ended was stalled. From the newest block backwards.
   * @param waits gets how long it waited for each block
   */
  stallOf(span: SpanTime, waits?: Wait[]): Stall {
    let millis = 0;
    let longest: RecentBlock | undefined;
    let longestMillis = 0;
    const own = this.#numbersById.get(span.spanId);
    let nextOwn = own === undefined ? -1 : own.length - 1;
    const oldest = Math.max(0, this.#count - MAX_RECENT_BLOCKS);
    for (let number = this.#count - 1; number >= oldest; number--) {
      const slot = number % MAX_RECENT_BLOCKS;
      if (!((this.#latestEnds[slot] as number) > span.start)) break;
      const isOwn = nextOwn >= 0 && own?.[nextOwn] === number;
      if (isOwn) nextOwn--;
      const stalled = isOwn
        ? stallIn(this.#ring[slot] as RecentBlock, span)
        : stallBetween(
            this.#starts[slot] as number,
            this.#ends[slot] as number,
            this.#callbackStarts[slot] as number,
            span,
          );
      if (stalled === 0) continue;
      millis += stalled;
      waits?.push({ cause: (this.#ring[slot] as RecentBlock).cause, millis: stalled });
      if (stalled > longestMillis) {
        longest = this.#ring[slot];
        longestMillis = stalled;
      }
    }
    return { millis, longest, longestMillis, incomplete: this.#forgottenUntil > span.start, waits };
  }

  #forget(block: RecentBlock): void {
    this.#forgottenUntil = Math.max(this.#forgottenUntil, block.end);
    block.cause.name({}); // if reporting it failed
    for (const id of spanIdsOf(block)) {
      const numbers = this.#numbersById.get(id);
      if (numbers === undefined || numbers.length === 1) this.#numbersById.delete(id);
      else numbers.shift();
    }
  }
}

/** Each id once. */
function* spanIdsOf({ blockingSpanIds, ranMillis }: RecentBlock): Iterable<string> {
  yield* blockingSpanIds;
  for (const id of ranMillis?.keys() ?? []) if (!blockingSpanIds.has(id)) yield id;
}
