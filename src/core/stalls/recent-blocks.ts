/**
 * The latest blocks, for spans that end later to be compared with.
 *
 * A span may have waited for all of them. The blocks that a span ran in are found by its id, and
 * for all others the times are enough. These are kept in arrays of numbers: to compare a span with
 * 1024 objects takes 400 µs, with these 4, and a thousand websockets may close in one callback.
 */

import type { NamedBlock } from '../../channels.ts';
import type { BlockLink } from '../emit/block-link.ts';
import {
  type BlockTime,
  MAX_CLOCK_ERROR_MILLIS,
  MIN_STALL_MILLIS,
  overlapOf,
  type SpanTime,
  stallIn,
  stallOfOther,
} from './span-time.ts';

/** Blocks that are remembered: at the default threshold, at least 100 s of blocked time. */
export const MAX_RECENT_BLOCKS = 1024;

/** The span of a block that is going to be reported. */
export type ReportedSpan = Pick<BlockLink, 'spanContext' | 'addQueued' | 'onReported'>;

/** The facts of a block that stalled spans need. They are kept for long, so without its context. */
export interface RecentBlock extends BlockTime {
  /** Asking for its context may start it. */
  readonly span: ReportedSpan | undefined;
  /** Undefined until the block is reported. */
  named: NamedBlock | undefined;
}

/** How long a span was stalled by blocks that it did not cause. */
export interface Stall {
  /** Milliseconds, each counted once. */
  readonly millis: number;
  /** The block it waited longest for, and how long; undefined if that has no span yet. */
  readonly longest: RecentBlock | undefined;
  readonly longestMillis: number;
  /** More blocks than are remembered fell into the span: `millis` is a lower bound. */
  readonly incomplete: boolean;
  /** How long for each block; they add up to `millis`. */
  readonly waits: BlockWaits;
}

/** For which blocks a span waited, by their numbers: it may have been a thousand. */
export interface BlockWaits {
  /** The first block, and the one after the last. */
  readonly from: number;
  readonly to: number;
  /** Milliseconds for the blocks among them that it did not wait for as a whole: few. */
  readonly parts: ReadonlyMap<number, number>;
}

export const NO_WAITS: BlockWaits = { from: 0, to: 0, parts: new Map() };

/** A ring. Blocks do not overlap each other. */
export class RecentBlocks {
  readonly #ring: RecentBlock[] = [];
  readonly #starts = new Float64Array(MAX_RECENT_BLOCKS);
  readonly #ends = new Float64Array(MAX_RECENT_BLOCKS);
  /** When the latest had ended of a block and those before it: a pile-up comes after its parts. */
  readonly #latestEnds = new Float64Array(MAX_RECENT_BLOCKS);
  /** The numbers of the blocks that a span made or ran in, by its id; the oldest comes first. */
  readonly #numbersById = new Map<string, number[]>();
  /** The numbers of the blocks that are not reported yet. */
  readonly #unnamed = new Set<number>();
  /** How many blocks there have been; they are numbered from 0. */
  #count = 0;
  /** When the latest block ended. */
  #latestEnd = Number.NEGATIVE_INFINITY;
  /** When the latest of the forgotten ended. */
  #forgottenUntil = Number.NEGATIVE_INFINITY;

  /** @returns its number */
  add(block: RecentBlock): number {
    const number = this.#count++;
    const slot = number % MAX_RECENT_BLOCKS;
    const oldest = this.#ring[slot];
    if (oldest !== undefined) this.#forget(oldest, number - MAX_RECENT_BLOCKS);
    this.#ring[slot] = block;
    this.#starts[slot] = block.start;
    this.#ends[slot] = block.end;
    this.#latestEnd = Math.max(this.#latestEnd, block.end);
    this.#latestEnds[slot] = this.#latestEnd;
    this.#unnamed.add(number);
    for (const id of spanIdsOf(block)) {
      const numbers = this.#numbersById.get(id);
      if (numbers === undefined) this.#numbersById.set(id, [number]);
      else numbers.push(number);
    }
    return number;
  }

  reported(number: number): void {
    this.#unnamed.delete(number);
  }

  /** Undefined if it is forgotten. */
  at(number: number): RecentBlock | undefined {
    return this.#isKept(number) ? this.#ring[number % MAX_RECENT_BLOCKS] : undefined;
  }

  areNamed({ from, to }: BlockWaits): boolean {
    for (const number of this.#unnamed) if (number >= from && number < to) return false;
    return true;
  }

  /** Hot. Whether any block ended after `start`. */
  endedAfter(start: number): boolean {
    return this.#latestEnd > start;
  }

  /**
   * Hot. How long a span that has ended was stalled. From the newest block backwards: nearly all
   * are taken as a whole, in some nanoseconds.
   */
  stallOf(span: SpanTime): Stall {
    const { start, end } = span;
    const own = this.#numbersById.get(span.spanId);
    let nextOwn = own === undefined ? -1 : own.length - 1;
    const parts = new Map<number, number>();
    const surelyBefore = start + MAX_CLOCK_ERROR_MILLIS;
    let millis = 0;
    let longest = -1;
    let longestMillis = 0;
    let to = this.#count;
    let number = to - 1;
    for (; this.#isAfter(number, start); number--) {
      const slot = number % MAX_RECENT_BLOCKS;
      const from = this.#starts[slot] as number;
      const until = this.#ends[slot] as number;
      const isOwn = nextOwn >= 0 && own?.[nextOwn] === number;
      let stalled = until - from;
      if (isOwn || from <= surelyBefore || until > end || stalled < MIN_STALL_MILLIS) {
        if (isOwn) nextOwn--;
        stalled = this.#compare(slot, span, isOwn);
        // Nothing is known of those after its end.
        if (millis + stalled === 0) to = number;
        else parts.set(number, stalled);
      }
      millis += stalled;
      if (stalled > longestMillis) {
        longest = number;
        longestMillis = stalled;
      }
    }
    return {
      millis,
      longest: longest === -1 ? undefined : this.#ring[longest % MAX_RECENT_BLOCKS],
      longestMillis,
      incomplete: this.#forgottenUntil > start,
      waits: millis === 0 ? NO_WAITS : { from: number + 1, to, parts },
    };
  }

  #compare(slot: number, span: SpanTime, isOwn: boolean): number {
    const block = this.#ring[slot] as RecentBlock;
    return isOwn ? stallIn(block, span) : stallOfOther(block, span);
  }

  /** The latest block that this time was a part of; one that ended as it began is not. */
  within(time: Pick<BlockTime, 'start' | 'end'>): RecentBlock | undefined {
    for (let number = this.#count - 1; this.#isAfter(number, time.start); number--) {
      const block = this.#ring[number % MAX_RECENT_BLOCKS] as RecentBlock;
      if (overlapOf(block, time) > 0) return block;
    }
    return undefined;
  }

  /** Hot. Whether this block, or one before it, is remembered and ended after `start`. */
  #isAfter(number: number, start: number): boolean {
    return this.#isKept(number) && (this.#latestEnds[number % MAX_RECENT_BLOCKS] as number) > start;
  }

  #isKept(number: number): boolean {
    return number >= 0 && number >= this.#count - MAX_RECENT_BLOCKS && number < this.#count;
  }

  #forget(block: RecentBlock, number: number): void {
    this.#forgottenUntil = Math.max(this.#forgottenUntil, block.end);
    this.#unnamed.delete(number); // if reporting it failed
    block.named ??= {};
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
