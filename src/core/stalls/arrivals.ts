/**
 * When the requests of a backlog came. Clients that wait for an answer before they send again
 * (browsers, proxies, load tests) come soon after a block has begun, and then no more: each of
 * their requests came at most so long after the last answer as it takes them. Others come evenly.
 *
 * How many come in a backlog says which it is. While nothing blocks, requests come at some rate. If
 * fewer have come in the latest backlogs than at that rate, they came at that rate at first.
 */

/** Milliseconds without a backlog from which the rate is known: the older half counts half. */
const MAX_FREE_MILLIS = 10_000;
const MAX_BACKLOGS = 32;
/** Fewer that should have come say nothing. */
const MIN_EXPECTED = 10;
/** Fewer came by so many standard deviations, and at most this share of them. */
const MIN_DEVIATIONS = 2;
const MAX_SHARE = 0.8;
const STEPS = 16;

export class Arrivals {
  /** Requests since the first backlog. */
  #begun = 0;
  #freeMillis = 0;
  /** Unix time at which the latest backlog ended. */
  #freeSince = Number.NaN;
  readonly #backlogs: { readonly millis: number; readonly requests: number }[] = [];

  /** Hot: once for each request. */
  begin(): void {
    this.#begun++;
  }

  /**
   * A backlog is over.
   * @param start Unix times
   * @param begun how many requests began until it was over, after its blocks
   * @param came how many of them came in it
   */
  add({ start, end, begun, came }: Record<'start' | 'end' | 'begun' | 'came', number>): void {
    if (Number.isNaN(this.#freeSince)) this.#begun = 0;
    else {
      this.#begun = Math.max(0, this.#begun - begun);
      this.#freeMillis += Math.max(0, start - this.#freeSince);
      this.#backlogs.push({ millis: end - start, requests: came });
      if (this.#backlogs.length > MAX_BACKLOGS) this.#backlogs.shift();
    }
    this.#freeSince = end;
    if (this.#freeMillis > MAX_FREE_MILLIS) {
      this.#freeMillis /= 2;
      this.#begun /= 2;
    }
  }

  /** For how long requests come after a block has begun; infinite if they come evenly. */
  comeFor(): number {
    const rate = this.#begun / this.#freeMillis;
    const cameIn = (within: number) =>
      this.#backlogs.reduce((sum, { millis }) => sum + rate * Math.min(within, millis), 0);
    const expected = cameIn(Number.POSITIVE_INFINITY);
    const came = this.#backlogs.reduce((sum, { requests }) => sum + requests, 0);
    const usual = expected - MIN_DEVIATIONS * Math.sqrt(expected);
    const isFewer = came < Math.min(usual, MAX_SHARE * expected);
    if (!(expected >= MIN_EXPECTED && isFewer)) return Number.POSITIVE_INFINITY;
    let [low, high] = [0, Math.max(...this.#backlogs.map(({ millis }) => millis))];
    for (let i = 0; i < STEPS; i++) {
      const middle = (low + high) / 2;
      if (cameIn(middle) < came) low = middle;
      else high = middle;
    }
    return high;
  }
}
