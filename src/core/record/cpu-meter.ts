/** CPU time of this thread in a busy period: a few readings, and a line between them. */
import type { Clock } from '../../support/clock.ts';

/** Readings kept of a busy period, besides its begin: the latest. */
const MAX_READINGS = 64;

interface Reading {
  readonly time: number;
  readonly cpu: number;
}

export class CpuMeter {
  // When the busy period began, and the CPU time by then. Numbers: it begins too often to allocate.
  #start = Number.NaN;
  #cpu = Number.NaN;
  #readings: Reading[] = [];
  /** The latest reading at the begin of a busy period, and the loop's idle time by then. */
  #readAt = Number.NEGATIVE_INFINITY;
  #read = Number.NaN;
  #idle = Number.NaN;

  /** @param intervalMillis how old a reading may be before another one (290 ns) is worth it */
  constructor(
    private readonly clock: Pick<Clock, 'cpu'>,
    private readonly intervalMillis: number,
  ) {}

  /** A busy period begins at `t`, with the loop's idle time at `idle`. */
  open(t: number, idle: number): void {
    if (t - this.#readAt >= this.intervalMillis) {
      this.#readAt = t;
      this.#read = this.clock.cpu();
      this.#idle = idle;
    }
    this.#start = t;
    // Waiting costs no CPU, everything else is taken to have been running.
    this.#cpu = this.#read + Math.max(0, t - this.#readAt - (idle - this.#idle));
    if (this.#readings.length > 0) this.#readings = [];
  }

  /** The loop has waited until `t`, since the busy period began: that costs no CPU. */
  waitedUntil(t: number): void {
    if (this.#readings.length === 0) this.#start = t;
  }

  /**
   * CPU milliseconds between two times of the busy period, of which `busyUntil` is the latest that
   * was busy.
   */
  between(start: number, end: number, busyUntil = end): number {
    const last = this.#readings.at(-1)?.time ?? this.#start;
    if (busyUntil > last) this.#readings.push({ time: busyUntil, cpu: this.clock.cpu() });
    if (this.#readings.length > MAX_READINGS) this.#readings.shift();
    return Math.max(0, Math.min(end - start, this.#at(end) - this.#at(start)));
  }

  /** At most how many CPU milliseconds were used since `start`. */
  since(start: number): number {
    const before = this.#readings.findLast(({ time }) => time <= start);
    // That the thread ran until the busy period began is a guess.
    return this.clock.cpu() - (before?.cpu ?? this.#read);
  }

  #at(t: number): number {
    let before: Reading = { time: this.#start, cpu: this.#cpu };
    for (const each of this.#readings) {
      if (each.time > t) {
        const share = Math.max(0, t - before.time) / (each.time - before.time);
        return before.cpu + (each.cpu - before.cpu) * share;
      }
      before = each;
    }
    return before.cpu;
  }
}
