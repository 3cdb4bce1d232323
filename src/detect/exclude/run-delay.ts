/**
 * How long this thread waited for a CPU: kept from running by other processes, or by the quota of
 * its container. The watchdog thread, on another CPU, may run on meanwhile. Linux only.
 */
import type { Clock } from '../../support/clock.ts';
import { Schedstat } from '../../support/schedstat.ts';

/** Of each of two kinds. One comes with each beat: an iteration of the loop has one or two. */
const READINGS = 8;

/** For how many milliseconds a thread waited for a CPU. */
export interface WaitedForCpu {
  readonly atLeast: number;
  readonly atMost: number;
}

/** The same, and for how long it ran. */
export interface ThreadTimes extends WaitedForCpu {
  readonly ranAtMost: number;
}

/** Ring of the latest readings: when, the run delay, and the CPU time so far. */
class Readings {
  readonly at = new Float64Array(READINGS).fill(Number.NaN);
  readonly delay = new Float64Array(READINGS);
  readonly ran = new Float64Array(READINGS);
  #next = 0;

  add(at: number, { waited, ran }: Pick<Schedstat, 'waited' | 'ran'>): void {
    this.at[this.#next] = at;
    this.delay[this.#next] = waited;
    this.ran[this.#next] = ran;
    this.#next = (this.#next + 1) % READINGS;
  }

  clear(): void {
    this.at.fill(Number.NaN);
  }
}

export class RunDelay {
  readonly #samples = new Readings();
  /**
   * Made right after a time that was asked about: what that is a part of is asked about later, when
   * more has been waited.
   */
  readonly #asked = new Readings();

  constructor(
    private readonly clock: Clock,
    readonly schedstat = new Schedstat(),
  ) {}

  start(): void {
    this.schedstat.start();
  }

  stop(): void {
    this.schedstat.stop();
    this.#samples.clear();
    this.#asked.clear();
  }

  /**
   * To be called now and then while nothing blocks; `schedstat` is up to date afterwards.
   * @param at now, or when what runs began
   * @returns false where nothing is known
   */
  sample(at: number): boolean {
    if (!this.schedstat.read()) return false;
    this.#samples.add(at, this.schedstat);
    return true;
  }

  /** From `start` to `end`, in the past; undefined without a reading from before the start. */
  within(start: number, end: number): ThreadTimes | undefined {
    let before = Number.NEGATIVE_INFINITY;
    let delayBefore = 0;
    let ranBefore = 0;
    let after = Number.POSITIVE_INFINITY;
    let delayAfter = 0;
    let ranAfter = 0;
    // A reading takes time: a sample is noted with a moment before it, the others with one after
    // it. Neither can do for the other.
    for (const [i, time] of this.#samples.at.entries()) {
      if (time > before && time <= start) {
        before = time;
        delayBefore = this.#samples.delay[i] as number;
        ranBefore = this.#samples.ran[i] as number;
      }
    }
    if (before === Number.NEGATIVE_INFINITY) return undefined;
    for (const [i, time] of this.#asked.at.entries()) {
      if (time < after && time >= end) {
        after = time;
        delayAfter = this.#asked.delay[i] as number;
        ranAfter = this.#asked.ran[i] as number;
      }
    }
    if (after === Number.POSITIVE_INFINITY) {
      if (!this.schedstat.read()) return undefined;
      after = this.clock.now();
      delayAfter = this.schedstat.waited;
      ranAfter = this.schedstat.ran;
      this.#asked.add(after, this.schedstat);
    }
    const atMost = Math.max(0, delayAfter - delayBefore);
    // What it waited before the start and after the end is at most all of that time.
    const outside = start - before + (after - end);
    return {
      atLeast: Math.max(0, atMost - outside),
      atMost,
      ranAtMost: Math.max(0, ranAfter - ranBefore),
    };
  }
}
