/**
 * How long this thread waited for a CPU: kept from running by other processes, or by the quota of
 * its container. The watchdog thread, on another CPU, may run on meanwhile. Linux only.
 */
import type { Clock } from '../support/clock.ts';
import { Schedstat } from '../support/schedstat.ts';

/** One comes with each beat of the lag timer: an iteration of the loop has one or two. */
const READINGS = 8;

/** For how many milliseconds a thread waited for a CPU. */
export interface WaitedForCpu {
  readonly atLeast: number;
  readonly atMost: number;
}

export class RunDelay {
  /** Ring of the latest readings: when, and the run delay so far. */
  readonly #at = new Float64Array(READINGS).fill(Number.NaN);
  readonly #delay = new Float64Array(READINGS);
  #next = 0;

  constructor(
    private readonly clock: Clock,
    readonly schedstat = new Schedstat(),
  ) {}

  start(): void {
    this.schedstat.start();
  }

  stop(): void {
    this.schedstat.stop();
    this.#at.fill(Number.NaN);
  }

  /**
   * To be called now and then while nothing blocks; `schedstat` is up to date afterwards.
   * @param at now, or when what runs began
   * @returns false where nothing is known
   */
  sample(at: number): boolean {
    if (!this.schedstat.read()) return false;
    this.#at[this.#next] = at;
    this.#delay[this.#next] = this.schedstat.waited;
    this.#next = (this.#next + 1) % READINGS;
    return true;
  }

  /** From `start` to `end`, just now; undefined without a sample from before the start. */
  within(start: number, end: number): WaitedForCpu | undefined {
    let latest = -1;
    for (let i = 0; i < READINGS; i++) {
      const at = this.#at[i] as number;
      if (at <= start && !(at < (this.#at[latest] ?? Number.NEGATIVE_INFINITY))) latest = i;
    }
    if (latest === -1 || !this.schedstat.read()) return undefined;
    const atMost = Math.max(0, this.schedstat.waited - (this.#delay[latest] as number));
    // What it waited before the start and after the end is at most all of that time.
    const outside = start - (this.#at[latest] as number) + (this.clock.now() - end);
    return { atLeast: Math.max(0, atMost - outside), atMost };
  }
}
