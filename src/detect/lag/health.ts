/**
 * The health of the event loop, over a window that slides: samples are put together in slots of a
 * tenth of a second, in rings of a fixed size. Constant memory; a call reads at most {@link SLOTS}
 * slots.
 */
import type { Clock } from '../../support/clock.ts';
import type { EventLoopHealth } from '../../types.ts';
import { recordLag } from './coordinated-omission.ts';

const SLOT_MILLIS = 100;
const SLOTS = 100;

/** The window may be as short or long as this, in milliseconds. */
export const MIN_HEALTH_WINDOW_MILLIS = 100;
export const MAX_HEALTH_WINDOW_MILLIS = SLOT_MILLIS * SLOTS;
export const DEFAULT_HEALTH_WINDOW_MILLIS = 5000;

/** What `health()` says while the instrumentation is disabled. */
export const UNKNOWN_HEALTH: EventLoopHealth = {
  lagMillis: 0,
  maxLagMillis: 0,
  utilization: 0,
  blockedMillis: 0,
};

/** The samples, in memory that another thread may read meanwhile: see {@link createHealthSlots}. */
export interface HealthSlots {
  /** Which tenth of a second a slot stands for; NaN where it is empty. */
  readonly of: Float64Array;
  readonly samples: Float64Array;
  readonly lagSum: Float64Array;
  readonly lagMax: Float64Array;
  readonly blocked: Float64Array;
  /** When something was put into the slot first, and the loop's idle time then. */
  readonly openedAt: Float64Array;
  readonly idleAt: Float64Array;
}

export function createHealthSlots(isShared = false): HealthSlots {
  const Memory = isShared ? SharedArrayBuffer : ArrayBuffer;
  const numbers = () => new Float64Array(new Memory(SLOTS * Float64Array.BYTES_PER_ELEMENT));
  return {
    of: numbers().fill(Number.NaN),
    samples: numbers(),
    lagSum: numbers(),
    lagMax: numbers(),
    blocked: numbers(),
    openedAt: numbers(),
    idleAt: numbers(),
  };
}

export class Health {
  readonly #of: Float64Array;
  readonly #samples: Float64Array;
  readonly #lagSum: Float64Array;
  readonly #lagMax: Float64Array;
  readonly #blocked: Float64Array;
  readonly #openedAt: Float64Array;
  readonly #idleAt: Float64Array;
  #startedAt = Number.NaN;
  #idleAtStart = Number.NaN;

  constructor(
    private readonly clock: Pick<Clock, 'now' | 'waited'>,
    private readonly lagIntervalMillis: number,
    slots: HealthSlots = createHealthSlots(),
  ) {
    this.#of = slots.of;
    this.#samples = slots.samples;
    this.#lagSum = slots.lagSum;
    this.#lagMax = slots.lagMax;
    this.#blocked = slots.blocked;
    this.#openedAt = slots.openedAt;
    this.#idleAt = slots.idleAt;
  }

  /** From now on. */
  start(): void {
    this.#startedAt = this.clock.now();
    this.#idleAtStart = this.clock.waited();
  }

  /** A sample of the lag: 50 a second at the default interval. */
  lag(millis: number): void {
    const slot = this.#slotAt(this.clock.now());
    this.#samples[slot] = (this.#samples[slot] as number) + 1;
    this.#lagSum[slot] = (this.#lagSum[slot] as number) + millis;
    this.#lagMax[slot] = Math.max(this.#lagMax[slot] as number, millis);
  }

  /** A block has ended just now. */
  block(millis: number): void {
    const slot = this.#slotAt(this.clock.now());
    this.#blocked[slot] = (this.#blocked[slot] as number) + millis;
  }

  /**
   * @param windowMillis 100 to 10 000
   * @param overdueMillis how late the sample is that is due now: events that arrived since have
   *   been waiting for that long
   */
  read(windowMillis: number, overdueMillis: number): EventLoopHealth {
    const now = this.clock.now();
    const oldest = Math.floor((now - windowMillis) / SLOT_MILLIS);
    let samples = 0;
    let lagSum = 0;
    let maxLag = overdueMillis;
    let blocked = 0;
    // Utilization counts from the last reading before the window: none is made during a block.
    let since = -1;
    for (let slot = 0; slot < SLOTS; slot++) {
      const of = this.#of[slot] as number;
      if (of < oldest && (since === -1 || of > (this.#of[since] as number))) since = slot;
      if (!(of >= oldest)) continue;
      samples += this.#samples[slot] as number;
      lagSum += this.#lagSum[slot] as number;
      maxLag = Math.max(maxLag, this.#lagMax[slot] as number);
      blocked += this.#blocked[slot] as number;
    }
    if (overdueMillis > 0) {
      recordLag(overdueMillis, this.lagIntervalMillis, (millis) => {
        samples++;
        lagSum += millis;
      });
    }
    const [openedAt, idleAt] =
      since === -1
        ? [this.#startedAt, this.#idleAtStart]
        : [this.#openedAt[since] as number, this.#idleAt[since] as number];
    const elapsed = now - openedAt;
    const busy = elapsed - (this.clock.waited() - idleAt);
    return {
      lagMillis: samples > 0 ? lagSum / samples : 0,
      maxLagMillis: maxLag,
      utilization: elapsed > 0 ? Math.min(1, Math.max(0, busy / elapsed)) : 0,
      blockedMillis: Math.min(windowMillis, blocked),
    };
  }

  #slotAt(time: number): number {
    const tenth = Math.floor(time / SLOT_MILLIS);
    const slot = tenth % SLOTS;
    if (this.#of[slot] !== tenth) {
      this.#of[slot] = tenth;
      this.#samples[slot] = 0;
      this.#lagSum[slot] = 0;
      this.#lagMax[slot] = 0;
      this.#blocked[slot] = 0;
      this.#openedAt[slot] = time;
      this.#idleAt[slot] = this.clock.waited();
    }
    return slot;
  }
}
