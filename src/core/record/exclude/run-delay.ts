/**
 * How long this thread waited for a CPU: kept from running by other processes, or by the quota of
 * its container. The watchdog thread, on another CPU, may run on meanwhile. Linux only.
 */

import type { Clock } from '../../../support/clock.ts';
import { Schedstat } from '../../../support/schedstat.ts';
import { Progress, type SharedMemory } from '../../sample/shared-memory.ts';

/** The kernel counts CPU time when its timer ticks, 250 times a second. */
export const CPU_GRAIN_MILLIS = 4;
/** A reading takes 10 µs. */
const MAX_READ_MILLIS = 1;
const MAX_READS = 3;
/** Kept of each of two kinds. One comes with each beat: an iteration of the loop has one or two. */
const MAX_READINGS = 8;

export interface WaitedForCpu {
  readonly atLeast: number;
  readonly atMost: number;
}

/** Milliseconds in which the thread waited for a CPU, and in which it ran. */
export interface WaitedAndRan extends WaitedForCpu {
  readonly ranAtMost: number;
}

/** The kernel's counters so far, at one moment: not before `from`, not after `to`. */
interface Reading {
  readonly from: number;
  readonly to: number;
  readonly waited: number;
  readonly ran: number;
  /** How long the loop had waited for events. */
  readonly idle: number;
}

export class RunDelay {
  #samples: Reading[] = [];
  /**
   * Made right after a time that was asked about: what that is a part of is asked about later, when
   * more has been waited.
   */
  #asked: Reading[] = [];

  constructor(
    private readonly clock: Clock,
    readonly schedstat = new Schedstat(),
    /** Shared with the watchdog thread, if there is one. */
    private readonly memory?: SharedMemory,
  ) {}

  start(): void {
    this.schedstat.start();
    // What runs before the first beat is asked about, too.
    this.sample(this.clock.now());
  }

  stop(): void {
    this.schedstat.stop();
    this.#samples = [];
    this.#asked = [];
  }

  /**
   * Call it now and then while nothing blocks; `schedstat` is up to date afterwards.
   * @param at now, or when what runs began
   * @returns false if nothing is known
   */
  sample(at: number): boolean {
    return this.#read(this.#samples, at) !== undefined;
  }

  /**
   * The delay from `start` to `end`, in the past; undefined without a reading before `start`.
   * @param cpu CPU milliseconds of the thread in this time, at most
   */
  within(start: number, end: number, cpu = Number.POSITIVE_INFINITY): WaitedAndRan | undefined {
    const after =
      this.#asked.find(({ from }) => from >= end) ?? this.#read(this.#asked, this.clock.now());
    if (after === undefined) return undefined;
    const readings = [...this.#samples, ...this.#asked];
    const [before] = readings
      .filter((each) => each !== after && each.from <= start)
      .sort((a, b) => b.from - a.from);
    if (before === undefined) return undefined;
    const waited = Math.max(0, after.waited - before.waited);
    const ran = Math.max(0, after.ran - before.ran);
    // It lacked a CPU, or ran, before it read.
    const unread = Math.max(0, before.to - start);
    // The thread slept for the remainder of the time between the readings, in the loop or a
    // synchronous call. libuv counts the delay at the end of a wait as waited.
    const idled = Math.max(0, after.idle - before.idle - waited) || 0;
    const slept = Math.max(0, after.to - before.from - ran - waited - idled);
    const notSlept = end - start - Math.min(cpu, ran) - slept - CPU_GRAIN_MILLIS;
    return {
      atLeast: Math.max(0, surelyWaited(readings, start, end), Math.min(waited, notSlept)),
      atMost: waited + unread,
      ranAtMost: ran + unread,
    };
  }

  /** @returns undefined if nothing is known */
  #read(readings: Reading[], from: number): Reading | undefined {
    let to = Number.NaN;
    // Again if it had no CPU meanwhile: when the counters were read is not known then.
    for (let took = Infinity, i = 0; took > MAX_READ_MILLIS && i < MAX_READS; i++) {
      const began = this.clock.now();
      if (!this.schedstat.read()) return undefined;
      to = this.clock.now();
      took = to - began;
    }
    const { waited, ran } = this.schedstat;
    this.#publish();
    const reading = { from, to, waited, ran, idle: this.clock.idle() };
    if (readings.length === MAX_READINGS) readings.shift();
    readings.push(reading);
    return reading;
  }

  /** The watchdog thread compares its own readings with it. */
  #publish(): void {
    const { memory, schedstat } = this;
    if (memory === undefined) return;
    memory.progress.values[Progress.ran] = schedstat.ran;
    memory.progress.values[Progress.runDelay] = schedstat.waited;
    memory.progress.publish();
  }
}

/**
 * Between any two readings, what it waited outside is at most all of that time. Up to 256 pairs,
 * asked in each iteration that is long by the wall: numbers only.
 */
function surelyWaited(readings: readonly Reading[], start: number, end: number): number {
  let most = 0;
  for (const first of readings) {
    const before = first.waited + Math.max(0, start - first.from);
    for (const { waited, to } of readings)
      most = Math.max(most, waited - before - Math.max(0, to - end));
  }
  return most;
}
