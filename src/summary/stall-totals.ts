/** How long requests waited, added up. The report page uses it, too: it imports nothing. */

/** How many requests waited, and for how long, added up. */
export interface StallTotals {
  /** Requests that waited at all: some did so before their span began and afterwards. */
  readonly waitedRequests: number;
  readonly stalledRequests: number;
  readonly stalledMillis: number;
  /** Those that arrived during a block, and what they waited before their span began. */
  readonly queuedRequests: number;
  readonly queuedMillis: number;
}

/** One request. */
export const stallOf = (stalledMillis: number, queuedMillis: number): StallTotals => ({
  waitedRequests: stalledMillis + queuedMillis > 0 ? 1 : 0,
  stalledRequests: stalledMillis > 0 ? 1 : 0,
  stalledMillis,
  queuedRequests: queuedMillis > 0 ? 1 : 0,
  queuedMillis,
});

export const NO_STALLS = stallOf(0, 0);

export const addStalls = (a: Partial<StallTotals>, b: Partial<StallTotals>): StallTotals => {
  const names = Object.keys(NO_STALLS) as (keyof StallTotals)[];
  const sums = names.map((name) => [name, (a[name] ?? 0) + (b[name] ?? 0)]);
  return Object.fromEntries(sums) as StallTotals;
};

export const harmOf = ({ stalledMillis = 0, queuedMillis = 0 }: Partial<StallTotals> = {}) =>
  stalledMillis + queuedMillis;
