/**
 * The requests of a period: for each route how long they took, with and without the time they were
 * stalled, and which functions stalled them.
 *
 * Guarantees: memory is bounded; each stalled millisecond counts for one function and one route.
 */
import { keyOf } from '../name/key.ts';
import { duration } from '../report/block-line.ts';
import { byFunction, type RequestMessage } from '../report/request-channel.ts';
import type { CodePlace } from '../types.ts';
import { Durations } from './durations.ts';

/** Routes that are kept apart; the requests of all others are taken together. */
const MAX_ROUTES = 100;
/** Functions, and pairs of a function and a route: the same. */
const MAX_FUNCTIONS = 1000;
const MAX_PAIRS = 1000;
/** Longer summaries do not fit into a pipe at once. */
const MAX_PAIRS_GIVEN = 100;

/** How many requests waited, and for how long, added up. */
export interface StallTotals {
  readonly stalledRequests: number;
  readonly stalledMillis: number;
}

export interface Quantiles {
  readonly p50Millis: number;
  readonly p99Millis: number;
  readonly maxMillis: number;
}

/** How long requests took; quantiles are at most 2.5 % off. */
export interface RequestTimes extends StallTotals, Quantiles {
  readonly count: number;
  /** The same of the durations minus the time for which each request was stalled. */
  readonly withoutStalls: Quantiles;
}

export interface RouteTimes extends RequestTimes {
  readonly route: string;
}

export interface PairTotals {
  readonly requests: number;
  readonly stalledMillis: number;
}

/**
 * The requests of a route that a function stalled; `functionName` is absent if the code is not
 * known, `route` for all routes that are not kept apart.
 */
export interface RouteStall extends PairTotals, Partial<CodePlace> {
  readonly route?: string;
}

export interface RequestSummary {
  readonly routes: readonly RouteTimes[];
  readonly otherRoutes?: RequestTimes;
  /** The longest first; absent if no request was stalled. */
  readonly stalls?: readonly RouteStall[];
  readonly otherStalls?: PairTotals;
}

export class Requests {
  readonly #all = new Stalled();
  readonly #routes = new Map<string, Route>();
  readonly #otherRoutes = new Route();
  readonly #functions = new Map<string, Stalled>();
  readonly #pairs = new Map<string, Pair>();
  readonly #otherPairs = new Stalled();
  #count = 0;

  add({ route, durationMillis, stalledMillis, waits }: RequestMessage): void {
    this.#count++;
    const known = valueFor(this.#routes, route, MAX_ROUTES, () => new Route());
    (known ?? this.#otherRoutes).add(durationMillis, stalledMillis);
    if (!(stalledMillis > 0)) return;
    this.#all.add(stalledMillis);
    // A request counts once for a function, however many blocks of it it waited for.
    for (const [key, { code, millis }] of byFunction(waits, ({ block }) => block)) {
      valueFor(this.#functions, key, MAX_FUNCTIONS, () => new Stalled())?.add(millis);
      const shownRoute = known === undefined ? undefined : route;
      const pairKey = JSON.stringify([key, shownRoute]);
      const pair = valueFor(this.#pairs, pairKey, MAX_PAIRS, () => new Pair(code, shownRoute));
      (pair ?? this.#otherPairs).add(millis);
    }
  }

  /** Undefined if there was no request: without a span processor there is none. */
  get all(): StallTotals | undefined {
    return this.#count === 0 ? undefined : this.#all.read();
  }

  /** Those that waited for a function; undefined if there was no request. */
  ofFunction(key: string): StallTotals | undefined {
    if (this.#count === 0) return undefined;
    return this.#functions.get(key)?.read() ?? { stalledRequests: 0, stalledMillis: 0 };
  }

  read(): RequestSummary | undefined {
    if (this.#count === 0) return undefined;
    const routes = [...this.#routes].sort(([, a], [, b]) => b.stalled.millis - a.stalled.millis);
    const pairs = [...this.#pairs.values()].sort((a, b) => b.millis - a.millis);
    const others = new Stalled();
    others.addAll(this.#otherPairs);
    for (const pair of pairs.slice(MAX_PAIRS_GIVEN)) others.addAll(pair);
    const given = pairs.slice(0, MAX_PAIRS_GIVEN).map((pair) => pair.readPair());
    return {
      routes: routes.map(([route, times]) => ({ route, ...times.read() })),
      ...(this.#otherRoutes.count > 0 && { otherRoutes: this.#otherRoutes.read() }),
      ...(given.length > 0 && { stalls: given }),
      ...(others.requests > 0 && {
        otherStalls: { requests: others.requests, stalledMillis: others.millis },
      }),
    };
  }
}

class Stalled {
  requests = 0;
  millis = 0;

  add(millis: number): void {
    this.requests++;
    this.millis += millis;
  }

  addAll({ requests, millis }: Stalled): void {
    this.requests += requests;
    this.millis += millis;
  }

  read(): StallTotals {
    return { stalledRequests: this.requests, stalledMillis: this.millis };
  }
}

class Pair extends Stalled {
  constructor(
    private readonly code: CodePlace | undefined,
    private readonly route: string | undefined,
  ) {
    super();
  }

  readPair(): RouteStall {
    const { functionName, file, line, column } = this.code ?? {};
    return {
      ...(functionName !== undefined && { functionName }),
      ...(file !== undefined && { file }),
      ...(line !== undefined && { line }),
      ...(column !== undefined && { column }),
      ...(this.route !== undefined && { route: this.route }),
      requests: this.requests,
      stalledMillis: this.millis,
    };
  }
}

class Route {
  readonly stalled = new Stalled();
  readonly #measured = new Durations();
  readonly #withoutStalls = new Durations();

  get count(): number {
    return this.#measured.count;
  }

  add(durationMillis: number, stalledMillis: number): void {
    this.#measured.add(durationMillis);
    this.#withoutStalls.add(Math.max(0, durationMillis - stalledMillis));
    if (stalledMillis > 0) this.stalled.add(stalledMillis);
  }

  read(): RequestTimes {
    return {
      count: this.count,
      ...quantilesOf(this.#measured),
      withoutStalls: quantilesOf(this.#withoutStalls),
      ...this.stalled.read(),
    };
  }
}

const quantilesOf = (durations: Durations): Quantiles => ({
  p50Millis: durations.quantile(0.5),
  p99Millis: durations.quantile(0.99),
  maxMillis: durations.max,
});

/** What the blocks of a function are counted under. */
export const functionKeyOf = (code: CodePlace | undefined) =>
  code === undefined ? '' : keyOf(code);

/** Undefined if `max` others are known. */
function valueFor<Value>(
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
  const { stalledRequests = 0, stalledMillis = 0 } = stalls;
  if (stalledRequests === 0) return undefined;
  const requests = `${stalledRequests} request${stalledRequests === 1 ? '' : 's'}`;
  return `${requests} waited ${duration(stalledMillis)} for ${it}`;
}
