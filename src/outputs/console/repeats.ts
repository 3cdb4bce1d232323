/**
 * Blocks of one place: the first ten in a minute are printed one by one, the others are counted,
 * so that a service that blocks all the time does not flood its log.
 */

import type { EventLoopBlock } from '../../types.ts';
import { functionKeyOf } from '../summary/requests.ts';

const SHOWN_A_MINUTE = 10;
const MINUTE_MILLIS = 60_000;
/** Past these, the blocks of a place are all printed. */
const MAX_PLACES = 1000;

/** Blocks of one place that were not printed. */
export interface Repeated {
  /** One of them. */
  readonly block: EventLoopBlock;
  readonly blocks: number;
  readonly totalMillis: number;
}

export class Repeats {
  readonly #places = new Map<string, { shown: number; repeated?: Repeated }>();
  #since = 0;

  /** Counts a block. @returns whether it is to be printed */
  isShown(block: EventLoopBlock): boolean {
    const key = functionKeyOf(block.code);
    const place = this.#places.get(key) ?? { shown: 0 };
    if (this.#places.size < MAX_PLACES) this.#places.set(key, place);
    if (place.shown < SHOWN_A_MINUTE) {
      place.shown++;
      return true;
    }
    const { blocks, totalMillis } = place.repeated ?? { blocks: 0, totalMillis: 0 };
    const total = totalMillis + block.durationMillis;
    place.repeated = { block, blocks: blocks + 1, totalMillis: total };
    return false;
  }

  /**
   * What was not printed, once.
   * @param now in milliseconds, to take it only when a minute is over; without it, takes it anyway
   */
  take(now = Number.POSITIVE_INFINITY): Repeated[] {
    if (now - this.#since < MINUTE_MILLIS) return [];
    const repeated = [...this.#places.values()].flatMap((place) => place.repeated ?? []);
    if (Number.isFinite(now)) {
      this.#since = now;
      this.#places.clear();
    } else for (const place of this.#places.values()) delete place.repeated;
    return repeated;
  }
}
