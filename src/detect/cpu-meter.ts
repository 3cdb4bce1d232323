/** CPU time of this thread over time: a few readings per stretch, and a line between them. */
import type { Clock } from '../clock.ts';

/** Readings kept. When full, every second one goes. */
const MAX_READINGS = 64;

export class CpuMeter {
  #times: number[] = [];
  #cpus: number[] = [];
  #interval: number;
  #idle = 0;
  #lastTime = Number.NEGATIVE_INFINITY;

  /** @param intervalMillis how old a reading may be before another one (290 ns) is worth it */
  constructor(
    private readonly clock: Clock,
    private readonly intervalMillis: number,
  ) {
    this.#interval = intervalMillis;
  }

  /** How many readings are kept. */
  get readings(): number {
    return this.#times.length;
  }

  /** A stretch begins at `t`, with the loop's idle time at `idle`. */
  open(t: number, idle: number): void {
    let cpu: number;
    const lastCpu = this.#cpus[this.#cpus.length - 1];
    const sinceLast = t - this.#lastTime;
    if (lastCpu === undefined || sinceLast >= this.intervalMillis) {
      cpu = this.clock.cpu();
    } else {
      // Waiting costs no CPU, everything else is taken to have been running.
      cpu = lastCpu + Math.max(0, sinceLast - (idle - this.#idle));
    }
    this.#times = [t];
    this.#cpus = [cpu];
    this.#interval = this.intervalMillis;
    this.#lastTime = t;
    this.#idle = idle;
  }

  /** The stretch goes on at `t`. */
  sample(t: number): void {
    if (t - this.#lastTime < this.#interval) return;
    this.#add(t, this.clock.cpu());
  }

  /** CPU milliseconds between two times of the stretch, of which `end` is the latest that was busy. */
  between(start: number, end: number): number {
    this.#add(end, this.clock.cpu());
    return Math.max(0, Math.min(end - start, this.#at(end) - this.#at(start)));
  }

  #add(t: number, cpu: number): void {
    if (t <= this.#lastTime) return;
    this.#times.push(t);
    this.#cpus.push(cpu);
    this.#lastTime = t;
    if (this.#times.length <= MAX_READINGS) return;
    const keep = (_: number, i: number, all: number[]) => i % 2 === 0 || i === all.length - 1;
    this.#times = this.#times.filter(keep);
    this.#cpus = this.#cpus.filter(keep);
    this.#interval *= 2;
  }

  #at(t: number): number {
    const times = this.#times;
    const cpus = this.#cpus;
    let i = times.length - 1;
    while (i > 0 && (times[i] as number) > t) i--;
    const [t0, t1, c0, c1] = [times[i], times[i + 1], cpus[i], cpus[i + 1]];
    if (t0 === undefined || c0 === undefined) return Number.NaN;
    if (t1 === undefined || c1 === undefined || t <= t0) return c0;
    return c0 + ((c1 - c0) * (t - t0)) / (t1 - t0);
  }
}
