/**
 * The requests of a period: for each route how long they took, with and without the time for which
 * they waited, and which functions they waited for.
 *
 * Guarantees: memory is bounded; each millisecond of a wait counts for one function and one route.
 */

import type { RequestMessage } from '../../channels.ts';
import { keyOf } from '../../core/explain/name/key.ts';
import { count, duration } from '../../support/numbers.ts';
import type { CodePlace } from '../../types.ts';
import { Durations } from './durations.ts';
import { addStalls, harmOf, NO_STALLS, type StallTotals, stallOf } from './stall-totals.ts';

/** Routes that are kept apart; the requests of all others are taken together. */
const MAX_ROUTES = 100;
/** Functions, and pairs of a function and a route: the same. */
const MAX_FUNCTIONS = 1000;
const MAX_PAIRS = 1000;
/** Longer summaries do not fit into a pipe at once. */
const MAX_PAIRS_GIVEN = 100;

export interface Quantiles {
  readonly p50Millis: number;
  readonly p99Millis: number;
  readonly maxMillis: number;
}

export type RequestSummary = NonNullable<ReturnType<Requests['read']>>;
export type RouteTimes = RequestSummary['routes'][number];
/** `functionName` is absent if the code is not known, `route` if it is not kept apart. */
export type RouteStall = NonNullable<RequestSummary['stalls']>[number];

export class Requests {
  #all = NO_STALLS;
  readonly #routes = new Map<string, Route>();
  readonly #otherRoutes = new Route();
  readonly #functions = new Map<string, { totals: StallTotals }>();
  readonly #pairs = new Map<
    string,
    { readonly place: Partial<CodePlace> & { readonly route?: string }; totals: StallTotals }
  >();
  readonly #otherPairs = { totals: NO_STALLS };
  #count = 0;

  add({ route, durationMillis, stalledMillis, queuedMillis, functions }: RequestMessage): void {
    this.#count++;
    const known = valueFor(this.#routes, route, MAX_ROUTES, () => new Route());
    const totals = known ?? this.#otherRoutes;
    if (stalledMillis + queuedMillis === 0) {
      totals.unstalled.add(durationMillis);
      return;
    }
    const stall = stallOf(stalledMillis, queuedMillis);
    totals.add(durationMillis, stall);
    this.#all = addStalls(this.#all, stall);
    // A request counts once for a function, however many blocks of it it waited for.
    for (const { key, code, ...ofWaits } of functions) {
      const ofKey = stallOf(ofWaits.stalledMillis, ofWaits.queuedMillis);
      const ofFunction = valueFor(this.#functions, key, MAX_FUNCTIONS, () => ({
        totals: NO_STALLS,
      }));
      if (ofFunction !== undefined) ofFunction.totals = addStalls(ofFunction.totals, ofKey);
      const shownRoute = known && { route };
      const pairKey = JSON.stringify([key, shownRoute]);
      const pair = valueFor(this.#pairs, pairKey, MAX_PAIRS, () => ({
        place: { ...placeOf(code), ...shownRoute },
        totals: NO_STALLS,
      }));
      const ofPair = pair ?? this.#otherPairs;
      ofPair.totals = addStalls(ofPair.totals, ofKey);
    }
  }

  /** Undefined if there was no request: without a span processor there is none. */
  get all(): StallTotals | undefined {
    return this.#count === 0 ? undefined : this.#all;
  }

  /** The requests that waited for a function; undefined if there was no request. */
  ofFunction(key: string): StallTotals | undefined {
    if (this.#count === 0) return undefined;
    return this.#functions.get(key)?.totals ?? NO_STALLS;
  }

  /**
   * Undefined if there was no request.
   * @param maxRoutes all others are added up together
   */
  read(maxRoutes = MAX_ROUTES) {
    if (this.#count === 0) return undefined;
    const sorted = [...this.#routes].sort(([, a], [, b]) => harmOf(b.totals) - harmOf(a.totals));
    const routes = sorted.slice(0, maxRoutes);
    const otherRoutes = sorted
      .slice(maxRoutes)
      .reduce((sum, [, route]) => sum.with(route), this.#otherRoutes);
    const pairs = [...this.#pairs.values()].sort((a, b) => harmOf(b.totals) - harmOf(a.totals));
    const others = pairs
      .slice(MAX_PAIRS_GIVEN)
      .reduce((sum, { totals }) => addStalls(sum, totals), this.#otherPairs.totals);
    const given = pairs
      .slice(0, MAX_PAIRS_GIVEN)
      .map(({ place, totals }) => ({ ...place, ...pairOf(totals) }));
    return {
      routes: routes.map(([route, times]) => ({ route, ...times.read() })),
      ...(otherRoutes.count > 0 && { otherRoutes: otherRoutes.read() }),
      ...(given.length > 0 && { stalls: given }),
      ...(others.waitedRequests > 0 && { otherStalls: pairOf(others) }),
    };
  }
}

const pairOf = ({ waitedRequests, stalledMillis, queuedMillis }: StallTotals) => ({
  requests: waitedRequests,
  stalledMillis,
  queuedMillis,
});

class Route {
  totals = NO_STALLS;
  /** Nearly all, of which the three durations are one. */
  unstalled = new Durations();
  #measured = new Durations();
  #withQueue = new Durations();
  #withoutStalls = new Durations();

  get count(): number {
    return this.unstalled.count + this.#measured.count;
  }

  add(durationMillis: number, stall: StallTotals): void {
    this.#measured.add(durationMillis);
    this.#withQueue.add(durationMillis + stall.queuedMillis);
    this.#withoutStalls.add(Math.max(0, durationMillis - stall.stalledMillis));
    this.totals = addStalls(this.totals, stall);
  }

  with(other: Route): Route {
    const both = new Route();
    both.totals = addStalls(this.totals, other.totals);
    both.unstalled = this.unstalled.with(other.unstalled);
    both.#measured = this.#measured.with(other.#measured);
    both.#withQueue = this.#withQueue.with(other.#withQueue);
    both.#withoutStalls = this.#withoutStalls.with(other.#withoutStalls);
    return both;
  }

  /** How long requests took; quantiles are at most 1 % off. */
  read() {
    return {
      count: this.count,
      ...quantilesOf(this.unstalled.with(this.#measured)),
      /** With what each request waited before its span: what clients saw. */
      withQueue: quantilesOf(this.unstalled.with(this.#withQueue)),
      withoutStalls: quantilesOf(this.unstalled.with(this.#withoutStalls)),
      ...this.totals,
    };
  }
}

const quantilesOf = (durations: Durations): Quantiles => ({
  p50Millis: durations.quantile(0.5),
  p99Millis: durations.quantile(0.99),
  maxMillis: durations.max,
});

/** Blocks of one function have one key. */
export const functionKeyOf = (code: CodePlace | undefined) =>
  code === undefined ? '' : keyOf(code);

/** Without what is not known. */
export function placeOf(code: Partial<CodePlace> = {}): Partial<CodePlace> {
  const { functionName, file, line, column } = code;
  return {
    ...(functionName !== undefined && { functionName }),
    ...(file !== undefined && { file }),
    ...(line !== undefined && { line }),
    ...(column !== undefined && { column }),
  };
}

export function valueFor<Value>(
  values: Map<string, Value>,
  key: string,
  max: number,
  make: () => Value,
): Value | undefined {
  const known = values.get(key);
  if (known !== undefined || values.size >= max) return known;
  const made = make();
  values.set(key, made);
  return made;
}

/** `41 requests waited 6.20 s for it`; undefined if none did, or that is not known. */
export function waitsOf(stalls: Partial<StallTotals>, it = 'it'): string | undefined {
  const { stalledRequests = 0, waitedRequests = stalledRequests } = stalls;
  if (waitedRequests === 0) return undefined;
  return `${count(waitedRequests, 'request')} waited ${duration(harmOf(stalls))} for ${it}`;
}
