/**
 * The latest blocks, for spans that end later to be compared with.
 *
 * A span may have waited for all of them. The blocks that a span ran in are found by its id, and
 * for all others the times are enough. These are kept in arrays of numbers: to compare a span with
 * 1024 objects takes 400 µs, and a thousand websockets may close in one callback.
 */
import type { SpansAtBlock } from '../extra.ts';
import type { NamedBlock } from '../report/request-channel.ts';
import type { Wait } from './ended-requests.ts';
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

/** The facts of a block that stalled spans need. They are kept for long, so without its context. */
export interface RecentBlock extends BlockTime {
  /** Asking for its context may start it. */
  readonly span: Parameters<SpansAtBlock['add']>[0] | undefined;
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
  /**
   * How long for each block; they add up to `millis`. For entry spans only. One array for all spans
   * that lasted through the same blocks.
   */
  readonly waits?: readonly Wait[] | undefined;
}

const ALWAYS = { start: Number.NEGATIVE_INFINITY, end: Number.POSITIVE_INFINITY };

/** A ring. Blocks do not overlap each other. */
export class RecentBlocks {
  readonly #ring: RecentBlock[] = [];
  readonly #starts = new Float64Array(MAX_RECENT_BLOCKS);
  readonly #ends = new Float64Array(MAX_RECENT_BLOCKS);
  /** The waits of spans that each block fell into as a whole: nearly all. */
  readonly #waits: Wait[] = [];
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
  /** For a span that lasted through all of them; found out once for all such spans. */
  #ofAll: Stall | undefined;
  #earliest: number | undefined;

  add(block: RecentBlock): void {
    this.#ofAll = undefined;
    this.#earliest = undefined;
    const number = this.#count++;
    const slot = number % MAX_RECENT_BLOCKS;
    const oldest = this.#ring[slot];
    if (oldest !== undefined) this.#forget(oldest);
    this.#ring[slot] = block;
    this.#starts[slot] = block.start;
    this.#ends[slot] = block.end;
    this.#waits[slot] = { block, millis: block.end - block.start };
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
   * Hot. How long a span that has ended was stalled.
   * @param isEntry whether it is known how long it waited for each block
   */
  stallOf(span: SpanTime, isEntry = false): Stall {
    const own = this.#numbersById.get(span.spanId);
    if (own !== undefined || !this.#hasLastedThroughAll(span))
      return this.#compare(span, own, isEntry ? [] : undefined);
    this.#ofAll ??= this.#compare({ spanId: '', ...ALWAYS }, undefined, []);
    const { millis, longest, longestMillis, waits } = this.#ofAll;
    const incomplete = this.#forgottenUntil > span.start;
    return { millis, longest, longestMillis, incomplete, waits: isEntry ? waits : undefined };
  }

  /** Most others begin after the oldest block did. */
  #hasLastedThroughAll({ start, end }: SpanTime): boolean {
    const began = start + MAX_CLOCK_ERROR_MILLIS;
    const size = Math.min(this.#count, MAX_RECENT_BLOCKS);
    const oldest = this.#starts[(this.#count - size) % MAX_RECENT_BLOCKS] as number;
    if (end < this.#latestEnd || began >= oldest) return false;
    // The part of a pile-up may have begun before the one that is older.
    this.#earliest ??= this.#starts.subarray(0, size).reduce((a, b) => Math.min(a, b), oldest);
    return began < this.#earliest;
  }

  /** From the newest block backwards. */
  #compare(span: SpanTime, own: readonly number[] | undefined, waits: Wait[] | undefined): Stall {
    let millis = 0;
    let longest: RecentBlock | undefined;
    let longestMillis = 0;
    let nextOwn = own === undefined ? -1 : own.length - 1;
    const { start, end } = span;
    for (let number = this.#count - 1; this.#isAfter(number, start); number--) {
      const slot = number % MAX_RECENT_BLOCKS;
      const isOwn = nextOwn >= 0 && own?.[nextOwn] === number;
      if (isOwn) nextOwn--;
      const from = this.#starts[slot] as number;
      const overlap = Math.min(this.#ends[slot] as number, end) - Math.max(from, start);
      if (!(overlap >= MIN_STALL_MILLIS)) continue;
      const block = this.#ring[slot] as RecentBlock;
      let stalled = overlap;
      if (isOwn) stalled = stallIn(block, span);
      else if (start >= from - MAX_CLOCK_ERROR_MILLIS) stalled = stallOfOther(block, span);
      if (stalled === 0) continue;
      millis += stalled;
      const whole = this.#waits[slot] as Wait;
      waits?.push(stalled === whole.millis ? whole : { block, millis: stalled });
      if (stalled > longestMillis) {
        longest = block;
        longestMillis = stalled;
      }
    }
    return { millis, longest, longestMillis, incomplete: this.#forgottenUntil > start, waits };
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
    const isKept = number >= 0 && number >= this.#count - MAX_RECENT_BLOCKS;
    return isKept && (this.#latestEnds[number % MAX_RECENT_BLOCKS] as number) > start;
  }

  #forget(block: RecentBlock): void {
    this.#forgottenUntil = Math.max(this.#forgottenUntil, block.end);
    block.named ??= {}; // if reporting it failed
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
