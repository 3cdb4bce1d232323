/**
 * The parts of the busy period that were reported: each millisecond counts once. What reports next,
 * an outer scope, the callback around it, the whole iteration, gets only the gaps that are left.
 *
 * Cold: used only when something has reached the threshold.
 */

/** Past this number in one busy period the oldest are merged, so that memory stays bounded. */
const MAX_INTERVALS = 512;

interface Interval {
  start: number;
  end: number;
}

type Found = (start: number, end: number) => boolean;

export class ReportedIntervals {
  /** Disjoint, in order of time. */
  #intervals: Interval[] = [];

  /** When the latest ended. Asked each iteration: index -1 of an empty array is slow (42 ns). */
  get end(): number {
    const { length } = this.#intervals;
    return length === 0 ? Number.NEGATIVE_INFINITY : (this.#intervals[length - 1] as Interval).end;
  }

  clear(): void {
    if (this.#intervals.length !== 0) this.#intervals = [];
  }

  /**
   * Adds every part of `start` to `end` that is not in yet and lasts at least `minimum`, and gives
   * each to `found`.
   * @param found returns false for a part that is not to be in: it may be asked about again, as a
   *   part of more
   * @returns false if that is so for one of them
   */
  add(start: number, end: number, minimum: number, found: Found): boolean {
    let isKept = true;
    let from = start;
    for (let i = this.#firstAfter(start); ; i++) {
      const next = this.#intervals[i];
      const isLast = next === undefined || next.start >= end;
      const to = isLast ? end : next.start;
      if (to - from >= minimum) {
        if (this.#isKept({ start: from, end: to }, i, found)) i++;
        else isKept = false;
      }
      if (isLast) break;
      from = Math.max(from, next.end);
    }
    this.#bound();
    return isKept;
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
    // The part is in meanwhile: what `found` calls may come here again.
    this.#intervals.splice(i, 0, part);
    const isKept = found(part.start, part.end);
    if (!isKept) this.#intervals.splice(this.#intervals.indexOf(part), 1);
    return isKept;
  }

  /** Index of the first that ends after `time`: from the end, the newest are asked about. */
  #firstAfter(time: number): number {
    let i = this.#intervals.length;
    while (i > 0 && (this.#intervals[i - 1] as Interval).end > time) i--;
    return i;
  }

  /** Time between two that are merged counts as reported: it is lost, and never reported twice. */
  #bound(): void {
    while (this.#intervals.length > MAX_INTERVALS) {
      const [{ start }, second] = this.#intervals as [Interval, Interval];
      this.#intervals.splice(0, 2, { ...second, start });
    }
  }
}
