/**
 * The parts of the busy period that were reported: each millisecond counts once. What reports next,
 * an outer scope, the callback around it, the whole iteration, gets only the gaps that are left.
 *
 * Cold: used only when something has reached the threshold.
 */

/**
 * More than this in one busy period: the oldest are merged into one, so that memory stays bounded.
 */
const MAX_INTERVALS = 512;
/** Of the refused, which are rare, only the latest are remembered. */
const MAX_REFUSED = 16;
/** Longer by less than this, it is the same: what is around it would be asked about it again. */
const REFUSED_GRAIN_MILLIS = 1;

interface Interval {
  start: number;
  end: number;
  /** Callbacks that had begun in the busy period when this started, and when it ended. */
  callbacksBefore: number;
  callbacksAfter: number;
}

type Found = (start: number, end: number, callbacks: number) => boolean;

export class ReportedIntervals {
  /** Disjoint, in order of time. */
  #intervals: Interval[] = [];
  #refused: Interval[] = [];

  get size(): number {
    return this.#intervals.length;
  }

  /** When the latest ended. Asked each iteration: index -1 of an empty array is slow (42 ns). */
  get end(): number {
    const { length } = this.#intervals;
    return length === 0 ? Number.NEGATIVE_INFINITY : (this.#intervals[length - 1] as Interval).end;
  }

  clear(): void {
    if (this.#intervals.length !== 0) this.#intervals = [];
    if (this.#refused.length !== 0) this.#refused = [];
  }

  /**
   * Adds every part of `start` to `end` that is not in yet and lasts at least `minimum`, and gives
   * each to `found`. Callbacks in a part are those between its neighbours' counts.
   * @param found returns false for a part that is not to be in: it is not asked about again, but as
   *   a part of more
   * @returns false where that is so for all parts that were found
   */
  add(
    start: number,
    end: number,
    minimum: number,
    callbacksBefore: number,
    callbacksAfter: number,
    found: Found,
  ): boolean {
    let kept = 0;
    let refused = 0;
    let from = start;
    let before = callbacksBefore;
    for (let i = this.#firstAfter(start); ; i++) {
      const next = this.#intervals[i];
      const isLast = next === undefined || next.start >= end;
      const to = isLast ? end : next.start;
      if (to - from >= minimum) {
        const after = isLast ? callbacksAfter : next.callbacksBefore;
        const part = { start: from, end: to, callbacksBefore: before, callbacksAfter: after };
        if (this.#isKept(part, i, found)) {
          kept++;
          i++;
        } else refused++;
      }
      if (isLast) break;
      from = Math.max(from, next.end);
      before = Math.max(before, next.callbacksAfter);
    }
    this.#bound();
    return kept > 0 || refused === 0;
  }

  /** When `millis` of the time since `start` that is not in have passed. */
  skip(start: number, millis: number): number {
    let from = start;
    let left = millis;
    for (const interval of this.#intervals) {
      const gap = Math.max(0, interval.start - from);
      if (gap >= left) break;
      left -= gap;
      from = Math.max(from, interval.end);
    }
    return from + left;
  }

  /** Puts a part in at index `i`, unless it is refused. */
  #isKept(part: Interval, i: number, found: Found): boolean {
    if (this.#wasRefused(part)) return false;
    // In, meanwhile: what `found` calls may come here again.
    this.#intervals.splice(i, 0, part);
    const { start, end, callbacksBefore, callbacksAfter } = part;
    if (found(start, end, Math.max(1, callbacksAfter - callbacksBefore))) return true;
    this.#intervals.splice(this.#intervals.indexOf(part), 1);
    this.#refused.push(part);
    if (this.#refused.length > MAX_REFUSED) this.#refused.shift();
    return false;
  }

  #wasRefused({ start, end }: Interval): boolean {
    return this.#refused.some(
      (each) =>
        each.start >= start &&
        each.end <= end &&
        end - start - (each.end - each.start) < REFUSED_GRAIN_MILLIS,
    );
  }

  /** Index of the first that ends after `time`: from the end, the newest are asked about. */
  #firstAfter(time: number): number {
    let i = this.#intervals.length;
    while (i > 0 && (this.#intervals[i - 1] as Interval).end > time) i--;
    return i;
  }

  #bound(): void {
    const surplus = this.#intervals.length - MAX_INTERVALS;
    if (surplus <= 0) return;
    // Down to half, so that this is rare. Gaps between the merged ones count as reported: lost,
    // never reported twice.
    const merged = this.#intervals.splice(0, surplus + MAX_INTERVALS / 2);
    const first = merged[0] as Interval;
    const last = merged[merged.length - 1] as Interval;
    this.#intervals.unshift({
      ...last,
      start: first.start,
      callbacksBefore: first.callbacksBefore,
    });
  }
}
