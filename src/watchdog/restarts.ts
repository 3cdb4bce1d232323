/** How often, and after what delay, a watchdog thread that has ended by itself is started again. */

const MAX_RESTARTS = 3;
const RESTART_DELAY_MILLIS = 1000;

export class Restarts {
  static readonly EXHAUSTED = `its watchdog thread has ended ${MAX_RESTARTS + 1} times`;

  #count = 0;

  /** To be called when it has ended. Milliseconds; undefined where it is not started again. */
  delayAfterEnd(): number | undefined {
    if (this.#count === MAX_RESTARTS) return undefined;
    this.#count++;
    return RESTART_DELAY_MILLIS * this.#count;
  }

  reset(): void {
    this.#count = 0;
  }
}
