/**
 * The parts of the current stretch that were reported already. It is what makes each millisecond count once: whoever
 * reports next, an outer scope, the callback around it, the whole iteration, is given only the gaps that are left.
 *
 * Cold: touched only when something has reached the threshold.
 */

/** More reported blocks than this in one stretch: the oldest are merged into one, so that memory stays bounded. */
const MAX_CLAIMS = 512;

interface Claim {
  start: number;
  end: number;
  /** Callbacks that had begun in this stretch before the claim started, and when it ended. */
  callbacksBefore: number;
  callbacksAfter: number;
}

export class Claims {
  /** Disjoint, in order of time. */
  #claims: Claim[] = [];

  get size(): number {
    return this.#claims.length;
  }

  /** When the latest claim ended. Asked at the end of each iteration: index -1 of an empty array would be a slow lookup (42 ns). */
  get end(): number {
    const { length } = this.#claims;
    return length === 0 ? Number.NEGATIVE_INFINITY : (this.#claims[length - 1] as Claim).end;
  }

  clear(): void {
    if (this.#claims.length !== 0) this.#claims = [];
  }

  /**
   * Claims every part of `start` to `end` that nobody claimed yet and that lasts at least `minimum`, and tells each
   * to `found`. Callbacks in a part are those between its neighbours' counts.
   */
  claim(
    start: number,
    end: number,
    minimum: number,
    callbacksBefore: number,
    callbacksAfter: number,
    found: (start: number, end: number, callbacks: number) => void,
  ): void {
    let from = start;
    let before = callbacksBefore;
    for (let i = this.#firstAfter(start); ; i++) {
      const next = this.#claims[i];
      const isLast = next === undefined || next.start >= end;
      const to = isLast ? end : next.start;
      if (to - from >= minimum) {
        const after = isLast ? callbacksAfter : next.callbacksBefore;
        this.#claims.splice(i, 0, { start: from, end: to, callbacksBefore: before, callbacksAfter: after });
        i++;
        found(from, to, Math.max(1, after - before));
      }
      if (isLast) break;
      from = Math.max(from, next.end);
      before = Math.max(before, next.callbacksAfter);
    }
    this.#bound();
  }

  /** When `millis` of the time since `start` that nobody claimed have passed. */
  skip(start: number, millis: number): number {
    let from = start;
    let left = millis;
    for (const claim of this.#claims) {
      const gap = Math.max(0, claim.start - from);
      if (gap >= left) break;
      left -= gap;
      from = Math.max(from, claim.end);
    }
    return from + left;
  }

  /** Index of the first claim that ends after `time`: from the end, since the newest are the ones asked about. */
  #firstAfter(time: number): number {
    let i = this.#claims.length;
    while (i > 0 && (this.#claims[i - 1] as Claim).end > time) i--;
    return i;
  }

  #bound(): void {
    const surplus = this.#claims.length - MAX_CLAIMS;
    if (surplus <= 0) return;
    // In one go down to half, so that this is rare. What lay between the merged ones counts as claimed: it is lost, never doubled.
    const merged = this.#claims.splice(0, surplus + MAX_CLAIMS / 2);
    const first = merged[0] as Claim;
    const last = merged[merged.length - 1] as Claim;
    this.#claims.unshift({ ...last, start: first.start, callbacksBefore: first.callbacksBefore });
  }
}
