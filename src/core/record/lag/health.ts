/**
 * The health of the event loop, over a window that slides: samples are put together in slots of a
 * tenth of a second, in rings of a fixed size. Constant memory; a call reads at most {@link SLOTS}
 * slots.
 */

import type { Clock } from '../../../support/clock.ts';
import type { EventLoopHealth } from '../../../types.ts';
import { SharedRecords } from '../../sample/shared-records.ts';

/** Most samples that one late beat stands for. Past it they are spread evenly over the wait. */
export const MAX_SAMPLES_PER_BEAT = 1000;

const SLOT_MILLIS = 100;
const SLOTS = 100;

/** The window may be as short or long as this, in milliseconds. */
export const MIN_HEALTH_WINDOW_MILLIS = 100;
export const MAX_HEALTH_WINDOW_MILLIS = SLOT_MILLIS * SLOTS;
export const DEFAULT_HEALTH_WINDOW_MILLIS = 5000;

export const UNKNOWN_HEALTH: EventLoopHealth = {
  lagMillis: 0,
  maxLagMillis: 0,
  utilization: 0,
  blockedMillis: 0,
  ownMillis: 0,
};

/** Index in the record of a slot. */
const Slot = {
  /** The tenth of a second that it stands for, counted from 1; 0 if it is empty. */
  tenth: 0,
  samples: 1,
  lagSum: 2,
  lagMax: 3,
  blocked: 4,
  /** When something was put into the slot first, and the loop's idle time then. */
  openedAt: 5,
  idleAt: 6,
  own: 7,
} as const;
const NUMBERS = Object.keys(Slot).length;
const WORDS = SharedRecords.wordsOf(NUMBERS, SLOTS);

export class Health {
  readonly #slots = Array.from({ length: SLOTS }, () => new Float64Array(NUMBERS));
  #shared: SharedRecords | undefined;
  #startedAt = Number.NaN;
  #idleAtStart = Number.NaN;

  constructor(
    private readonly clock: Pick<Clock, 'now' | 'waited'>,
    private readonly lagIntervalMillis: number,
  ) {}

  /**
   * Memory from which another thread can {@link copy} the samples. To copy takes 20 µs, to read
   * one's own 1 to 2: only what the other thread asks for goes through it.
   */
  share(): Int32Array {
    const words = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT * WORDS));
    this.#shared = new SharedRecords(words, NUMBERS);
    return words;
  }

  /** Takes over what another thread has sampled. */
  copy(shared: Int32Array): void {
    const records = new SharedRecords(shared, NUMBERS);
    for (const [slot, values] of this.#slots.entries()) values.set(records.read(slot));
  }

  start(): void {
    this.#startedAt = this.clock.now();
    this.#idleAtStart = this.clock.waited();
  }

  /** Adds `samples` samples of one lag. The timer takes 50 a second by default. */
  lag(millis: number, samples = 1): void {
    this.#change((values) => {
      values[Slot.samples] = (values[Slot.samples] as number) + samples;
      values[Slot.lagSum] = (values[Slot.lagSum] as number) + millis * samples;
      values[Slot.lagMax] = Math.max(values[Slot.lagMax] as number, millis);
    });
  }

  /** A block has ended just now. */
  block(millis: number): void {
    this.#change((values) => {
      values[Slot.blocked] = (values[Slot.blocked] as number) + millis;
    });
  }

  /** The package has used so much CPU time. */
  own(millis: number): void {
    this.#change((values) => {
      values[Slot.own] = (values[Slot.own] as number) + millis;
    });
  }

  /**
   * @param windowMillis 100 to 10 000
   * @param overdueMillis how late the sample is that is due now: events that arrived since have
   *   been waiting for that long
   */
  read(windowMillis: number, overdueMillis: number): EventLoopHealth {
    const now = this.clock.now();
    const oldest = tenthOf(now - windowMillis);
    let samples = 0;
    let lagSum = 0;
    let maxLag = overdueMillis;
    let blocked = 0;
    let own = 0;
    // Utilization counts from the last reading before the window: none is made during a block.
    let since = 0;
    let openedAt = this.#startedAt;
    let idleAt = this.#idleAtStart;
    for (const values of this.#slots) {
      const tenth = values[Slot.tenth] as number;
      if (tenth >= oldest && tenth > 0) {
        samples += values[Slot.samples] as number;
        lagSum += values[Slot.lagSum] as number;
        maxLag = Math.max(maxLag, values[Slot.lagMax] as number);
        blocked += values[Slot.blocked] as number;
        own += values[Slot.own] as number;
      } else if (tenth > since) {
        since = tenth;
        openedAt = values[Slot.openedAt] as number;
        idleAt = values[Slot.idleAt] as number;
      }
    }
    if (overdueMillis > 0) {
      recordLag(overdueMillis, this.lagIntervalMillis, (millis) => {
        samples++;
        lagSum += millis;
      });
    }
    const elapsed = now - openedAt;
    const busy = elapsed - (this.clock.waited() - idleAt);
    return {
      lagMillis: samples > 0 ? lagSum / samples : 0,
      maxLagMillis: maxLag,
      utilization: elapsed > 0 ? Math.min(1, Math.max(0, busy / elapsed)) : 0,
      blockedMillis: Math.min(windowMillis, blocked),
      ownMillis: own,
    };
  }

  /** Changes the slot of now. */
  #change(change: (values: Float64Array) => void): void {
    const time = this.clock.now();
    const tenth = tenthOf(time);
    const slot = tenth % SLOTS;
    const values = this.#slots[slot] as Float64Array;
    if (values[Slot.tenth] !== tenth) {
      values.fill(0);
      values[Slot.tenth] = tenth;
      values[Slot.openedAt] = time;
      values[Slot.idleAt] = this.clock.waited();
    }
    change(values);
    this.#shared?.values.set(values);
    this.#shared?.publish(slot);
  }
}

const tenthOf = (time: number) => Math.floor(time / SLOT_MILLIS) + 1;

/**
 * Records how long events had to wait for the loop, from the lateness of one timer, without
 * coordinated omission. A timer that comes `lag` late has been asked once; meanwhile arrivals at
 * the same rate went unasked, which waited `lag - interval`, `lag - 2 × interval` and so on.
 * Without them every percentile is too low.
 */
export function recordLag(
  lagMillis: number,
  intervalMillis: number,
  record: (lagMillis: number) => void,
): void {
  const step = Math.max(intervalMillis, lagMillis / MAX_SAMPLES_PER_BEAT);
  record(lagMillis);
  // Counted, not subtracted until zero: rounding must not make one more.
  const more = Math.ceil(lagMillis / step) - 1;
  for (let i = 1; i <= more; i++) record(lagMillis - i * step);
}
