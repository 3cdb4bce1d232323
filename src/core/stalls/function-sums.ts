/**
 * The functions that requests waited for. Requests that ended together lasted through the same
 * blocks, back to where each of them began: their blocks are added up once for all of them.
 */
import type { FunctionWait, NamedBlock, RequestWait } from '../../channels.ts';
import type { BlockWaits, RecentBlock, RecentBlocks } from './recent-blocks.ts';
import { MIN_STALL_MILLIS } from './span-time.ts';

/** A wait that is no part of {@link BlockWaits}. */
export interface Wait {
  /** Undefined until the block of a pile-up is known. */
  block: RecentBlock | undefined;
  readonly millis: number;
  /** Before its span began. */
  readonly isQueued?: true;
}

/** Less is an error of adding up. */
const MIN_MILLIS = 0.001;

type Sums = Map<string, { -readonly [Name in keyof FunctionWait]: FunctionWait[Name] }>;

export class FunctionSums {
  readonly #sums: Sums = new Map();
  #from = 0;
  #to = 0;

  constructor(private readonly blocks: RecentBlocks) {}

  /**
   * By function. What is not known, or forgotten, counts for none.
   * @param stalledMillis what all of `waits` and of `others` that were no queue add up to
   */
  functionsOf(waits: BlockWaits, others: readonly Wait[], stalledMillis: number): FunctionWait[] {
    this.#addUp(waits);
    const sums: Sums = new Map();
    for (const [key, sum] of this.#sums) sums.set(key, { ...sum });
    for (const [number, millis] of waits.parts) {
      const block = this.blocks.at(number);
      if (block !== undefined) add(sums, block.named, millis - lengthOf(block));
    }
    for (const { block, millis, isQueued } of others) add(sums, block?.named, millis, isQueued);
    let unknown = stalledMillis;
    for (const sum of sums.values()) unknown -= sum.stalledMillis;
    if (unknown > MIN_MILLIS) add(sums, undefined, unknown);
    return [...sums.values()].filter((sum) => sum.stalledMillis + sum.queuedMillis > MIN_MILLIS);
  }

  /** One for each block. */
  waitsOf({ from, to, parts }: BlockWaits, others: readonly Wait[]): RequestWait[] {
    const waits: Wait[] = [];
    for (let number = to - 1; number >= from; number--) {
      const block = this.blocks.at(number);
      const millis = block === undefined ? 0 : (parts.get(number) ?? lengthOf(block));
      if (millis > 0) waits.push({ block, millis });
    }
    return [...waits, ...others].map(named);
  }

  /** Goes on from where the request before has begun, if it lasted until the same block. */
  #addUp({ from, to }: BlockWaits): void {
    if (to !== this.#to || from > this.#from) {
      this.#sums.clear();
      this.#to = to;
      this.#from = to;
    }
    while (this.#from > from) {
      const number = --this.#from;
      const block = this.blocks.at(number);
      const millis = block === undefined ? 0 : lengthOf(block);
      if (millis === 0) continue;
      add(this.#sums, block?.named, millis);
    }
  }
}

/** As far as it makes a span that lasted through all of it wait. */
function lengthOf({ start, end }: RecentBlock): number {
  return end - start >= MIN_STALL_MILLIS ? end - start : 0;
}

const named = ({ block, millis, isQueued }: Wait): RequestWait => ({
  block: block?.named ?? {},
  millis,
  ...(isQueued && { isQueued }),
});

function add(sums: Sums, block: NamedBlock = {}, millis: number, isQueued?: true): void {
  const key = block.key ?? '';
  let sum = sums.get(key);
  if (sum === undefined) {
    const code = block.code && { code: block.code };
    sum = { key, ...code, stalledMillis: 0, queuedMillis: 0 };
    sums.set(key, sum);
  }
  if (isQueued) sum.queuedMillis += millis;
  else sum.stalledMillis += millis;
}
