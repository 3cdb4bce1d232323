/**
 * How long this thread waited for a CPU: kept from running by other processes, or by the quota of
 * its container. The watchdog thread, on another CPU, may run on meanwhile. Linux only.
 */
import type { Clock } from '../../support/clock.ts';
import { Schedstat } from '../../support/schedstat.ts';

/** Kept of each of two kinds. One comes with each beat: an iteration of the loop has one or two. */
const MAX_READINGS = 8;

/** For how many milliseconds a thread waited for a CPU. */
export interface WaitedForCpu {
  readonly atLeast: number;
  readonly atMost: number;
}

/** The same, and for how many milliseconds it ran. */
export interface WaitedAndRan extends WaitedForCpu {
  readonly ranAtMost: number;
}

/** The kernel's counters so far, at one moment. */
interface Reading {
  readonly at: number;
  readonly waited: number;
  readonly ran: number;
}

export class RunDelay {
  // A reading takes time: a sample is noted with a moment before it, the others with one after it.
  // Neither can do for the other.
  #samples: Reading[] = [];
  /**
   * Made right after a time that was asked about: what that is a part of is asked about later, when
   * more has been waited.
   */
  #asked: Reading[] = [];

  constructor(
    private readonly clock: Clock,
    readonly schedstat = new Schedstat(),
  ) {}

  start(): void {
    this.schedstat.start();
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
    if (!this.schedstat.read()) return false;
    this.#add(this.#samples, at);
    return true;
  }

  /** From `start` to `end`, in the past; undefined without a reading from before the start. */
  within(start: number, end: number): WaitedAndRan | undefined {
    const before = this.#samples.findLast(({ at }) => at <= start);
    if (before === undefined) return undefined;
    let after = this.#asked.find(({ at }) => at >= end);
    if (after === undefined) {
      if (!this.schedstat.read()) return undefined;
      after = this.#add(this.#asked, this.clock.now());
    }
    const atMost = Math.max(0, after.waited - before.waited);
    // What it waited before the start and after the end is at most all of that time.
    const outside = start - before.at + (after.at - end);
    return {
      atLeast: Math.max(0, atMost - outside),
      atMost,
      ranAtMost: Math.max(0, after.ran - before.ran),
    };
  }

  #add(readings: Reading[], at: number): Reading {
    const { waited, ran } = this.schedstat;
    const reading = { at, waited, ran };
    if (readings.length === MAX_READINGS) readings.shift();
    readings.push(reading);
    return reading;
  }
}
