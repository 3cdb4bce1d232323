/**
 * How much garbage was collected when: from `gc` performance entries, which Node.js delivers after
 * the fact.
 */
import { PerformanceObserver } from 'node:perf_hooks';
import { canCountIterations } from '../../support/clock.ts';
import { attempt } from '../../support/guard.ts';
import { nodeTiming } from '../../support/time.ts';

/**
 * Collections remembered. Blocks ask right after they ended, so this is far more than one needs.
 */
const MAX_COLLECTIONS = 8192;

/** Node.js before 26 throws in its own code for the entries then, which ends the process. */
const isPrototypePolluted = () => 'value' in Object.prototype || 'writable' in Object.prototype;

export class GcMeter {
  #starts: number[] = [];
  #durations: number[] = [];
  #observer: PerformanceObserver | undefined;
  #isStarted = false;

  start(): void {
    this.#isStarted = true;
    // While the main script runs, it may still pollute the prototype.
    if (nodeTiming.loopStart >= 0) this.upkeep();
  }

  stop(): void {
    this.#isStarted = false;
    this.#disconnect();
  }

  #disconnect(): void {
    this.#observer?.disconnect();
    this.#observer = undefined;
    this.#starts = [];
    this.#durations = [];
  }

  upkeep(): void {
    // A runtime without blocks may have no such entries, and print that.
    if (!canCountIterations) return;
    if (isPrototypePolluted()) this.#disconnect();
    else if (this.#isStarted && this.#observer === undefined) {
      this.#observer = new PerformanceObserver((list) =>
        attempt(() => this.#add(list.getEntries())),
      );
      this.#observer.observe({ entryTypes: ['gc'] });
    }
  }

  /**
   * Milliseconds of garbage collection between `start` and `end`, times of `performance.now()`. NaN
   * while not started.
   */
  within(start: number, end: number): number {
    // Complete for all that ended before the current iteration's check phase began.
    this.#add(this.#observer?.takeRecords() ?? []);
    const all = this.collections(start, end);
    return all === undefined
      ? Number.NaN
      : all.reduce(
          (sum, [from, until]) => sum + Math.max(0, Math.min(until, end) - Math.max(from, start)),
          0,
        );
  }

  /** Start and end of those that ended after `start`, the latest first. */
  collections(start: number, end: number): [from: number, until: number][] | undefined {
    if (this.#observer === undefined) return undefined;
    const all: [number, number][] = [];
    for (let i = this.#starts.length - 1; i >= 0; i--) {
      const from = this.#starts[i] as number;
      const until = from + (this.#durations[i] as number);
      if (until <= start) break;
      if (from < end) all.push([from, until]);
    }
    return all;
  }

  #add(entries: readonly { startTime: number; duration: number }[]): void {
    for (const { startTime, duration } of entries) {
      this.#starts.push(startTime);
      this.#durations.push(duration);
    }
    if (this.#starts.length > MAX_COLLECTIONS) {
      this.#starts.splice(0, this.#starts.length - MAX_COLLECTIONS / 2);
      this.#durations.splice(0, this.#durations.length - MAX_COLLECTIONS / 2);
    }
  }
}
