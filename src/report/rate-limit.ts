/** At most so many in any 60 seconds, exactly: a ring of the times of the last ones. */
const WINDOW_MILLIS = 60_000;

export class RateLimit {
  readonly #times: number[] = [];
  /** The oldest, once the ring is full. */
  #next = 0;

  constructor(private readonly max: number) {}

  hasRoom(now: number): boolean {
    if (this.#times.length < this.max) return true;
    if (this.max === 0) return false;
    return now - (this.#times[this.#next] as number) >= WINDOW_MILLIS;
  }

  /** Counts one. Only after {@link hasRoom} said so. */
  take(now: number): void {
    if (this.#times.length < this.max) {
      this.#times.push(now);
      return;
    }
    this.#times[this.#next] = now;
    this.#next = (this.#next + 1) % this.max;
  }
}
