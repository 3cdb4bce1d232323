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

/** For each request that waited, and each function that it waited for. */
export const addStalls = (a: Partial<StallTotals>, b: Partial<StallTotals>): StallTotals => ({
  waitedRequests: (a.waitedRequests ?? 0) + (b.waitedRequests ?? 0),
  stalledRequests: (a.stalledRequests ?? 0) + (b.stalledRequests ?? 0),
  stalledMillis: (a.stalledMillis ?? 0) + (b.stalledMillis ?? 0),
  queuedRequests: (a.queuedRequests ?? 0) + (b.queuedRequests ?? 0),
  queuedMillis: (a.queuedMillis ?? 0) + (b.queuedMillis ?? 0),
});

export const harmOf = ({ stalledMillis = 0, queuedMillis = 0 }: Partial<StallTotals> = {}) =>
  stalledMillis + queuedMillis;
