/** CPU time of this thread over time: a few readings per busy period, and a line between them. */
import type { Clock } from '../support/clock.ts';

/** Readings kept: the first of a busy period, and the latest. */
const MAX_READINGS = 64;

export class CpuMeter {
  // Arrays of a fixed size: a busy period begins too often to allocate for it.
  readonly #times = new Float64Array(MAX_READINGS);
  readonly #cpus = new Float64Array(MAX_READINGS);
  #readings = 0;
  #idle = 0;
  #lastTime = Number.NEGATIVE_INFINITY;
  /** When the clock was read last, and what it said: what is estimated since must not add up. */
  #readAt = Number.NEGATIVE_INFINITY;
  #read = Number.NaN;
  /** The latest reading before the busy period, or at its beginning. */
  #readBefore = Number.NaN;

  /** @param intervalMillis how old a reading may be before another one (290 ns) is worth it */
  constructor(
    private readonly clock: Clock,
    private readonly intervalMillis: number,
  ) {}

  get readings(): number {
    return this.#readings;
  }

  /** A busy period begins at `t`, with the loop's idle time at `idle`. */
  open(t: number, idle: number): void {
    let cpu: number;
    const sinceLast = t - this.#lastTime;
    if (this.#readings === 0 || t - this.#readAt >= this.intervalMillis) {
      cpu = this.#readClock(t);
    } else {
      // Waiting costs no CPU, everything else is taken to have been running.
      cpu =
        (this.#cpus[this.#readings - 1] as number) + Math.max(0, sinceLast - (idle - this.#idle));
    }
    this.#times[0] = t;
    this.#cpus[0] = cpu;
    this.#readBefore = this.#read;
    this.#readings = 1;
    this.#lastTime = t;
    this.#idle = idle;
  }

  /** The loop has waited until `t`, since the busy period began: that costs no CPU. */
  waitedUntil(t: number): void {
    if (this.#readings === 1) this.#times[0] = t;
  }

  /** The busy period goes on at `t`. */
  sample(t: number): void {
    if (t - this.#lastTime < this.intervalMillis) return;
    this.#add(t);
  }

  /**
   * CPU milliseconds between two times of the busy period, of which `busyUntil` is the latest that
   * was busy.
   */
  between(start: number, end: number, busyUntil = end): number {
    this.#add(busyUntil);
    return Math.max(0, Math.min(end - start, this.#at(end) - this.#at(start)));
  }

  /** At most how many CPU milliseconds were used since `start`. */
  since(start: number): number {
    let i = this.#readings - 1;
    while (i > 0 && (this.#times[i] as number) > start) i--;
    if (i < 0) return Number.NaN;
    // The reading at the beginning may be too high: that the thread ran until then is a guess.
    return this.clock.cpu() - (i === 0 ? this.#readBefore : (this.#cpus[i] as number));
  }

  #add(t: number): void {
    if (t <= this.#lastTime) return;
    if (this.#readings === MAX_READINGS) {
      this.#times.copyWithin(1, 2);
      this.#cpus.copyWithin(1, 2);
      this.#readings--;
    }
    this.#times[this.#readings] = t;
    this.#cpus[this.#readings] = this.#readClock(t);
    this.#readings++;
    this.#lastTime = t;
  }

  #readClock(t: number): number {
    this.#readAt = t;
    this.#read = this.clock.cpu();
    return this.#read;
  }

  #at(t: number): number {
    if (this.#readings === 0) return Number.NaN;
    let i = this.#readings - 1;
    while (i > 0 && (this.#times[i] as number) > t) i--;
    const t0 = this.#times[i] as number;
    const c0 = this.#cpus[i] as number;
    if (i === this.#readings - 1 || t <= t0) return c0;
    const t1 = this.#times[i + 1] as number;
    const c1 = this.#cpus[i + 1] as number;
    return c0 + ((c1 - c0) * (t - t0)) / (t1 - t0);
  }
}
