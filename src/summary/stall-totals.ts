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

export const NO_STALLS: StallTotals = {
  waitedRequests: 0,
  stalledRequests: 0,
  stalledMillis: 0,
  queuedRequests: 0,
  queuedMillis: 0,
};

export const addStalls = (a: StallTotals, b: StallTotals): StallTotals => ({
  waitedRequests: a.waitedRequests + b.waitedRequests,
  stalledRequests: a.stalledRequests + b.stalledRequests,
  stalledMillis: a.stalledMillis + b.stalledMillis,
  queuedRequests: a.queuedRequests + b.queuedRequests,
  queuedMillis: a.queuedMillis + b.queuedMillis,
});

/** Milliseconds that requests waited. */
export const harmOf = ({ stalledMillis = 0, queuedMillis = 0 }: Partial<StallTotals> = {}) =>
  stalledMillis + queuedMillis;
