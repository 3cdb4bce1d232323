/**
 * What this package may use of the main thread in any ten seconds: 20 ms, or 2 % of the CPU time
 * that the process has used in them if that is more. What the thread waited in calls counts as if
 * it had run; that it had no CPU does not. Where the budget gets short, stack samples are fewer
 * first, then blocks have no names, then no samples, which tell their traces; a block is reported
 * in any case.
 */
import { isMainThread } from 'node:worker_threads';
import { Allowed } from '../sample/shared-memory.ts';
import { now } from '../support/time.ts';

const MAX_SHARE = 0.02;
const MIN_MILLIS = 20;

const SLOT_MILLIS = 1000;
const SLOTS = 10;

/** Shares of the budget from which on stack samples are fewer, and there are no names. */
const FEW_SAMPLES = 0.5;
const NO_NAMES = 0.9;

interface Slot {
  second: number;
  ownMillis: number;
  /** Of the process and the thread, when the slot was used first. */
  used: Used;
}

/** Milliseconds so far; NaN if that is not known. */
export interface Used {
  /** CPU time of the process. */
  readonly cpu: number;
  /** For how long the thread has run, or waited in a call. */
  readonly busy: number;
}
const NOTHING: Used = { cpu: 0, busy: 0 };

export class Budget {
  readonly #slots: Slot[] = Array.from({ length: SLOTS }, () => ({
    second: Number.NEGATIVE_INFINITY,
    ownMillis: 0,
    used: NOTHING,
  }));

  constructor(
    private readonly usedSoFar: () => Used,
    private readonly clock = now,
    uptimeMillis = isMainThread ? now() : Number.POSITIVE_INFINITY,
  ) {
    this.spend(0);
    // All that a young process has used is in the ten seconds.
    if (uptimeMillis < SLOTS * SLOT_MILLIS) this.#slotOfNow().used = NOTHING;
  }

  /** Call it now and then, with 0 if nothing was used. Under 1 µs, 2 µs once a second. */
  spend(millis: number): void {
    const slot = this.#slotOfNow();
    slot.ownMillis += millis;
  }

  /** Which stack samples may be taken. 3 µs. */
  get samples(): number {
    const used = this.#used();
    if (used < FEW_SAMPLES) return Allowed.all;
    return used < 1 ? Allowed.few : Allowed.none;
  }

  get hasNames(): boolean {
    return this.#used() < NO_NAMES;
  }

  #slotOfNow(): Slot {
    const second = Math.floor(this.clock() / SLOT_MILLIS);
    const slot = this.#slots[second % SLOTS] as Slot;
    if (slot.second !== second)
      Object.assign(slot, { second, ownMillis: 0, used: this.usedSoFar() });
    return slot;
  }

  /** The share of it that is used up; more than 1 if it was exceeded. */
  #used(): number {
    const since = this.#slotOfNow().second - SLOTS;
    const { cpu, busy } = this.usedSoFar();
    let own = 0;
    let most = 0;
    for (const { second, ownMillis, used } of this.#slots) {
      if (second <= since) continue;
      own += ownMillis;
      most = Math.max(most, cpu - used.cpu, busy - used.busy || 0);
    }
    return own / Math.max(MIN_MILLIS, MAX_SHARE * most);
  }
}
