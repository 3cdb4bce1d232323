/** How the threads of this package are started, and started again. */

/** Options of `new Worker` that every watchdog thread is started with; plain JSON. */
export const THREAD_OPTIONS = {
  eval: true,
  name: 'event-loop-watchdog',
  argv: [],
  // Without the host's flags and its NODE_OPTIONS: its preloads would run in this thread, too.
  execArgv: [],
  stdout: true,
  stderr: true,
  // Files that the thread has open are closed when it ends.
  trackUnmanagedFds: true,
  // V8 of Node.js 26 may give a new heap a freed page of the main thread's, of up to 32 MB
  // (`--large-page-pool`): with less than that and 4 MB, the start would end the process.
  resourceLimits: { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 2, stackSizeMb: 1 },
};

/** Restarts that are possible at once; then one in each interval. */
const BURST = 3;
const REFILL_MILLIS = 10 * 60_000;
/** The first restart of a burst comes after this time, the second after twice this time. */
const DELAY_MILLIS = 1000;

/** When a thread of this package that has ended by itself is started again. */
export class Restarts {
  static readonly EXHAUSTED =
    `its watchdog thread has ended ${BURST + 1} times; ` +
    `it is started again within ${REFILL_MILLIS / 60_000} minutes`;

  #usedUntil = Number.NEGATIVE_INFINITY;

  /**
   * Call it when it has ended. `now`: a time in milliseconds.
   * @returns `isPostponed`: there were too many, and it comes within `REFILL_MILLIS`
   */
  afterEnd(now: number): { readonly delayMillis: number; readonly isPostponed: boolean } {
    this.#usedUntil = Math.max(this.#usedUntil, now) + REFILL_MILLIS;
    const used = Math.ceil((this.#usedUntil - now) / REFILL_MILLIS);
    const isPostponed = used > BURST;
    const delayMillis = isPostponed
      ? this.#usedUntil - BURST * REFILL_MILLIS - now
      : used * DELAY_MILLIS;
    return { delayMillis, isPostponed };
  }

  reset(): void {
    this.#usedUntil = Number.NEGATIVE_INFINITY;
  }
}
