/** The callbacks that run, one inside the other, while async hooks are on. */

/** Callbacks deeper than this count for the one around them. */
const MAX_NESTED = 32;

export class RunningCallbacks {
  depth = 0;
  readonly #starts = new Float64Array(MAX_NESTED);
  readonly #voted = new Float64Array(MAX_NESTED);

  /** Hot. One begins at `t`, when `voted` milliseconds had been voted for. */
  enter(t: number, voted: number): void {
    if (this.depth < MAX_NESTED) {
      this.#starts[this.depth] = t;
      this.#voted[this.depth] = voted;
    }
    this.depth++;
  }

  /**
   * Hot. The innermost one ends. False if its beginning is not known: it is nested too deep, or the
   * hooks were switched on inside of it.
   */
  leave(): boolean {
    if (this.depth === 0) return false;
    return --this.depth < MAX_NESTED;
  }

  /** When the one that was left last began. */
  get start(): number {
    return this.#starts[this.depth] as number;
  }

  get votedBefore(): number {
    return this.#voted[this.depth] as number;
  }

  /** An iteration turns: one whose `after` did not come is over. */
  clear(): void {
    this.depth = 0;
  }
}
