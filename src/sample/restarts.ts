/** When a watchdog thread that has ended by itself is started again. */

/** As many restarts are possible at once; then one in each interval. */
const BURST = 3;
const REFILL_MILLIS = 10 * 60_000;
/** The first restart of a burst comes after so long, the second after twice as long. */
const DELAY_MILLIS = 1000;

export interface Restart {
  readonly delayMillis: number;
  /** It comes much later: there were too many. */
  readonly isPostponed: boolean;
}

export class Restarts {
  static readonly EXHAUSTED = `its watchdog thread has ended ${BURST + 1} times`;

  #usedUntil = Number.NEGATIVE_INFINITY;

  /** To be called when it has ended. `now`: a time in milliseconds. */
  afterEnd(now: number): Restart {
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
