/**
 * The health of the event loop, over a window that slides: samples are put together in slots of a
 * tenth of a second, in rings of a fixed size. Constant memory; a call reads at most {@link SLOTS}
 * slots.
 */
import type { Clock } from '../../support/clock.ts';
import type { EventLoopHealth } from '../../types.ts';

/** Most samples that one late beat stands for. Past it they are spread evenly over the wait. */
export const MAX_SAMPLES_PER_BEAT = 1000;

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
  /** Which tenth of a second a slot stands for; NaN if it is empty. */
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
  #startedAt = Number.NaN;
  #idleAtStart = Number.NaN;

  constructor(
    private readonly clock: Pick<Clock, 'now' | 'waited'>,
    private readonly lagIntervalMillis: number,
    private readonly slots: HealthSlots = createHealthSlots(),
  ) {}

  /** From now on. */
  start(): void {
    this.#startedAt = this.clock.now();
    this.#idleAtStart = this.clock.waited();
  }

  /** A sample of the lag: 50 a second at the default interval. */
  lag(millis: number): void {
    const { slots } = this;
    const slot = this.#slotAt(this.clock.now());
    slots.samples[slot] = (slots.samples[slot] as number) + 1;
    slots.lagSum[slot] = (slots.lagSum[slot] as number) + millis;
    slots.lagMax[slot] = Math.max(slots.lagMax[slot] as number, millis);
  }

  /** A block has ended just now. */
  block(millis: number): void {
    const { slots } = this;
    const slot = this.#slotAt(this.clock.now());
    slots.blocked[slot] = (slots.blocked[slot] as number) + millis;
  }

  /**
   * @param windowMillis 100 to 10 000
   * @param overdueMillis how late the sample is that is due now: events that arrived since have
   *   been waiting for that long
   */
  read(windowMillis: number, overdueMillis: number): EventLoopHealth {
    const { slots } = this;
    const now = this.clock.now();
    const oldest = Math.floor((now - windowMillis) / SLOT_MILLIS);
    let samples = 0;
    let lagSum = 0;
    let maxLag = overdueMillis;
    let blocked = 0;
    // Utilization counts from the last reading before the window: none is made during a block.
    let since = -1;
    for (let slot = 0; slot < SLOTS; slot++) {
      const of = slots.of[slot] as number;
      if (of < oldest && (since === -1 || of > (slots.of[since] as number))) since = slot;
      if (!(of >= oldest)) continue;
      samples += slots.samples[slot] as number;
      lagSum += slots.lagSum[slot] as number;
      maxLag = Math.max(maxLag, slots.lagMax[slot] as number);
      blocked += slots.blocked[slot] as number;
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
        : [slots.openedAt[since] as number, slots.idleAt[since] as number];
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
    const { slots } = this;
    const tenth = Math.floor(time / SLOT_MILLIS);
    const slot = tenth % SLOTS;
    if (slots.of[slot] !== tenth) {
      slots.of[slot] = tenth;
      slots.samples[slot] = 0;
      slots.lagSum[slot] = 0;
      slots.lagMax[slot] = 0;
      slots.blocked[slot] = 0;
      slots.openedAt[slot] = time;
      slots.idleAt[slot] = this.clock.waited();
    }
    return slot;
  }
}

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
