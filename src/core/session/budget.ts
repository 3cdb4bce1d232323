/**
 * What one kind of this package's work may use of the main thread in any ten seconds: a share of
 * the CPU time that the process has used in them, or so many milliseconds if that is more. What
 * the thread has waited in calls counts as if it had run; that it had no CPU does not.
 */
import { isMainThread } from 'node:worker_threads';
import { now } from '../../support/time.ts';

const SLOT_MILLIS = 1000;
const SLOTS = 10;

/** Milliseconds so far; NaN if that is not known. */
export interface Used {
  /** CPU time of the process. */
  readonly cpu: number;
  /** For how long the thread has run, or waited in a call. */
  readonly busy: number;
}
const NOTHING: Used = { cpu: 0, busy: 0 };

interface Slot {
  second: number;
  spent: number;
  /** When the slot was used first. */
  used: Used;
}

export class Budget {
  readonly #slots: Slot[] = Array.from({ length: SLOTS }, () => ({
    second: Number.NEGATIVE_INFINITY,
    spent: 0,
    used: NOTHING,
  }));

  constructor(
    private readonly max: { readonly share: number; readonly millis: number },
    private readonly usedSoFar: () => Used,
    private readonly clock = now,
    uptimeMillis = isMainThread ? now() : Number.POSITIVE_INFINITY,
  ) {
    this.spend(0);
    // All that a young process has used is in the ten seconds.
    if (uptimeMillis < SLOTS * SLOT_MILLIS) this.#slotOfNow().used = NOTHING;
  }

  /** Call it now and then, with 0 if nothing was used. Under 1 µs, 3 µs once a second. */
  spend(millis: number): void {
    const slot = this.#slotOfNow();
    slot.spent += millis;
  }

  /** The share of it that is used up; more than 1 if it was exceeded. 4 µs. */
  get used(): number {
    const since = this.#slotOfNow().second - SLOTS;
    const { cpu, busy } = this.usedSoFar();
    let sum = 0;
    let most = 0;
    for (const { second, spent, used } of this.#slots) {
      if (second <= since) continue;
      sum += spent;
      most = Math.max(most, cpu - used.cpu, busy - used.busy || 0);
    }
    return sum / Math.max(this.max.millis, this.max.share * most);
  }

  #slotOfNow(): Slot {
    const second = Math.floor(this.clock() / SLOT_MILLIS);
    const slot = this.#slots[second % SLOTS] as Slot;
    if (slot.second !== second) Object.assign(slot, { second, spent: 0, used: this.usedSoFar() });
    return slot;
  }
}
