/**
 * At most `max` spans in any 60 seconds. A function gets a tenth of them while others block too.
 * The grants of the last 60 seconds are kept, so this is exact.
 */
const WINDOW_MILLIS = 60_000;
/** The share of the limit that one function may take while others block; at least one span. */
const SHARE = 0.1;

export class RateLimit {
  /** Spans that were promised before their function was known. */
  reserved = 0;
  readonly #share: number;
  readonly #grants: { readonly key: string; readonly time: number }[] = [];
  readonly #byKey = new Map<string, number>();
  /** The function that blocked latest, when, and when another one did. */
  #latestKey: string | undefined;
  #latestTime = Number.NEGATIVE_INFINITY;
  #otherTime = Number.NEGATIVE_INFINITY;

  constructor(private readonly max: number) {
    this.#share = Math.max(1, Math.floor(max * SHARE));
  }

  hasRoom(now: number): boolean {
    this.#forgetUntil(now - WINDOW_MILLIS);
    return this.#grants.length + this.reserved < this.max;
  }

  /** Whether a block of this function gets a span. If it does, {@link take} counts it. */
  allows(key: string, now: number): boolean {
    if (key !== this.#latestKey) {
      this.#otherTime = this.#latestTime;
      this.#latestKey = key;
    }
    this.#latestTime = now;
    if (!this.hasRoom(now)) return false;
    const isAlone = now - this.#otherTime >= WINDOW_MILLIS;
    return isAlone || (this.#byKey.get(key) ?? 0) < this.#share;
  }

  take(key: string, now: number): void {
    this.#byKey.set(key, (this.#byKey.get(key) ?? 0) + 1);
    this.#grants.push({ key, time: now });
  }

  #forgetUntil(time: number): void {
    for (let oldest = this.#grants[0]; oldest && oldest.time <= time; oldest = this.#grants[0]) {
      this.#grants.shift();
      const left = (this.#byKey.get(oldest.key) as number) - 1;
      if (left === 0) this.#byKey.delete(oldest.key);
      else this.#byKey.set(oldest.key, left);
    }
  }
}
