/**
 * At most `max` spans in any 60 seconds. While other functions want one, a function gets at most a
 * tenth of them; a function that has had none gets one. The grants of the last 60 seconds are kept,
 * so this is exact.
 */
const WINDOW_MILLIS = 60_000;
/** The share of the limit that one function may take while others want some; at least one span. */
const SHARE = 0.1;
/** Functions that are known to have had one. */
const MAX_SEEN = 1000;

/** Key of blocks without a function. No first span is granted to them. */
export const NO_FUNCTION = '';

export class RateLimit {
  /** Spans that were promised before their function was known. */
  reserved = 0;
  readonly #share: number;
  #grants: {
    readonly key: string;
    readonly time: number;
    /** Whether it is beyond the function's share, and granted since no other function waited. */
    readonly isSurplus: boolean;
  }[] = [];
  /** Index of the first one that counts. */
  #oldest = 0;
  #surplus = 0;
  readonly #byKey = new Map<string, number>();
  readonly #seen = new Set<string>();
  /** Which function wanted a span latest, when, and when another one did. */
  #latestKey = NO_FUNCTION;
  #latestTime = Number.NEGATIVE_INFINITY;
  #otherTime = Number.NEGATIVE_INFINITY;

  constructor(private readonly max: number) {
    this.#share = Math.max(1, Math.floor(max * SHARE));
  }

  hasRoom(key: string, now: number): boolean {
    if (this.max === 0) return false;
    this.#forgetUntil(now - WINDOW_MILLIS);
    if (this.#isNew(key)) return true;
    const used = this.#used;
    if (this.#isPastShare(key)) return used < this.max && !this.#othersWant(key, now);
    return this.#isRoomLeft;
  }

  /** Whether any function but one past its share would have room. */
  hasRoomForAny(now: number): boolean {
    this.#forgetUntil(now - WINDOW_MILLIS);
    return this.#isRoomLeft;
  }

  /** Counts one. Only after {@link hasRoom} said so. */
  take(key: string, now: number): void {
    this.#want(key, now);
    const isSurplus = !this.#isNew(key) && this.#isPastShare(key);
    if (isSurplus) this.#surplus++;
    if (this.#seen.size < MAX_SEEN) this.#seen.add(key);
    this.#byKey.set(key, (this.#byKey.get(key) ?? 0) + 1);
    this.#grants.push({ key, time: now, isSurplus });
  }

  refuse(key: string, now: number): void {
    this.#want(key, now);
  }

  get #used(): number {
    return this.#grants.length - this.#oldest + this.reserved;
  }

  /** What one function has used beyond its share leaves a share to the others. */
  get #isRoomLeft(): boolean {
    return this.#used - this.#surplus < this.max && this.#used < this.max + this.#share;
  }

  #isNew(key: string): boolean {
    return key !== NO_FUNCTION && this.#seen.size < MAX_SEEN && !this.#seen.has(key);
  }

  #isPastShare(key: string): boolean {
    return (this.#byKey.get(key) ?? 0) >= this.#share;
  }

  #othersWant(key: string, now: number): boolean {
    const latest = key === this.#latestKey ? this.#otherTime : this.#latestTime;
    return now - latest < WINDOW_MILLIS;
  }

  #want(key: string, now: number): void {
    if (key !== this.#latestKey) {
      this.#otherTime = this.#latestTime;
      this.#latestKey = key;
    }
    this.#latestTime = now;
  }

  #forgetUntil(time: number): void {
    for (;;) {
      const grant = this.#grants[this.#oldest];
      if (grant === undefined || grant.time > time) break;
      this.#oldest++;
      if (grant.isSurplus) this.#surplus--;
      const left = (this.#byKey.get(grant.key) as number) - 1;
      if (left === 0) this.#byKey.delete(grant.key);
      else this.#byKey.set(grant.key, left);
    }
    if (this.#oldest * 2 <= this.#grants.length) return;
    this.#grants = this.#grants.slice(this.#oldest);
    this.#oldest = 0;
  }
}
