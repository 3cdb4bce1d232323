/**
 * What made requests wait, and what blocked most: adds up by the place to change, in bounded
 * memory, and keeps apart what blocked at start-up. Data only; the formats are beside this file.
 *
 * Start-up lasts until a server of this process listens for the first time. A process in which none
 * ever does has no block at start-up.
 */
import type { RequestMessage } from '../../channels.ts';
import { whyUnknown } from '../../core/emit/unknown-code.ts';
import type { BlockCause, CodePlace, EventLoopBlock } from '../../types.ts';
import { functionKeyOf, placeOf, type RequestSummary, Requests, valueFor } from './requests.ts';
import { addStalls, harmOf, type StallTotals } from './stall-totals.ts';

/** Functions that are kept apart; the blocks of all others are added up together. */
const MAX_PLACES = 1000;
/** Operations that are kept apart; the blocks of others are not counted by operation. */
const MAX_OPERATIONS = 100;
const MAX_OPERATIONS_GIVEN = 5;
/** Longer summaries do not fit into a pipe at once. */
const MAX_PLACES_GIVEN = 100;

/**
 * The blocks of one place, or of several. Requests are those that have ended; what they waited is
 * absent without a span processor.
 */
export interface BlockTotals extends Partial<StallTotals> {
  readonly blocks: number;
  readonly totalMillis: number;
  readonly longestMillis: number;
  /** Share of the elapsed time, 0 to 1. */
  readonly share: number;
}

/** The blocks of one place; `functionName` is absent if the code is not known. */
export interface PlaceSummary extends BlockTotals, Partial<CodePlace> {
  /** The cause of most of its blocked time. */
  readonly cause?: BlockCause;
  /** Why the code is not known, for most of the time. */
  readonly unknown?: string;
  readonly gcMillis: number;
}

/** By place: first what made requests wait longest, then what blocked longest. */
export interface PeriodSummary extends BlockTotals {
  readonly elapsedMillis: number;
  readonly places: readonly PlaceSummary[];
  /** Blocks whose place is not among `places`, if there are any. */
  readonly otherPlaces?: BlockTotals;
}

export interface BlockSummary extends PeriodSummary, Partial<RequestSummary> {
  /** `loadMillis`: what is preloaded and the main script ran before the event loop first turned. */
  readonly startUp?: PeriodSummary & { readonly loadMillis?: number };
  /** How long the thread waited for a CPU since the start; absent if that is not known. */
  readonly runDelayMillis?: number;
  /** The routes, or names of entry spans, that blocked longest; absent if none is known. */
  readonly operations?: readonly {
    readonly operation: string;
    readonly blocks: number;
    readonly totalMillis: number;
  }[];
}

export interface SummaryTimes {
  readonly startedAt: number;
  readonly now: number;
  /** Absent if no server has begun to listen since `startedAt`. */
  readonly listeningSince?: number | undefined;
  readonly loadMillis?: number | undefined;
  readonly runDelayMillis?: number | undefined;
}

export class Summary {
  /** Blocks that began before a server listened, if one does. */
  readonly #before = new Places();
  readonly #after = new Places();

  readonly #operations = new Map<string, Totals>();

  add(block: EventLoopBlock, listeningSince?: number, operation?: string): void {
    this.#periodOf(block.startTimeMillis, listeningSince).add(block);
    if (operation === undefined) return;
    valueFor(this.#operations, operation, MAX_OPERATIONS, () => new Totals())?.add(block);
  }

  addRequest(request: RequestMessage, listeningSince?: number): void {
    this.#periodOf(request.startTimeMillis, listeningSince).requests.add(request);
  }

  /** @param maxPlaces all others are added up together */
  read(
    { startedAt, now, listeningSince, loadMillis, runDelayMillis }: SummaryTimes,
    maxPlaces = MAX_PLACES_GIVEN,
  ): BlockSummary {
    const load = loadMillis !== undefined && { loadMillis };
    const hasListened = listeningSince !== undefined;
    const [before, after] = hasListened
      ? [this.#before, this.#after]
      : [new Places(), this.#before];
    const since = listeningSince ?? startedAt;
    const startUp = before.read(since - startedAt, maxPlaces);
    return {
      ...after.read(now - since, maxPlaces),
      ...after.requests.read(maxPlaces),
      ...(runDelayMillis !== undefined && { runDelayMillis }),
      ...(this.#operations.size > 0 && { operations: this.#worstOperations() }),
      ...((load || startUp.blocks > 0) && { startUp: { ...startUp, ...load } }),
    };
  }

  #worstOperations() {
    return [...this.#operations]
      .map(([operation, { blocks, millis }]) => ({ operation, blocks, totalMillis: millis }))
      .sort((a, b) => b.totalMillis - a.totalMillis)
      .slice(0, MAX_OPERATIONS_GIVEN);
  }

  #periodOf(timeMillis: number, listeningSince: number | undefined): Places {
    return listeningSince !== undefined && timeMillis >= listeningSince
      ? this.#after
      : this.#before;
  }
}

class Totals {
  blocks = 0;
  millis = 0;
  longestMillis = 0;

  add({ durationMillis }: EventLoopBlock): void {
    this.blocks++;
    this.millis += durationMillis;
    this.longestMillis = Math.max(this.longestMillis, durationMillis);
  }

  addAll(other: Totals): void {
    this.blocks += other.blocks;
    this.millis += other.millis;
    this.longestMillis = Math.max(this.longestMillis, other.longestMillis);
  }

  read(elapsedMillis: number): BlockTotals {
    const { blocks, millis, longestMillis } = this;
    const share = millis === 0 ? 0 : millis / elapsedMillis;
    return { blocks, totalMillis: millis, longestMillis, share };
  }
}

class Place extends Totals {
  gcMillis = 0;
  readonly #first: EventLoopBlock;
  readonly #causes: Partial<Record<BlockCause | 'none', number>> = {};
  readonly #reasons: Record<string, number> = {};

  constructor(first: EventLoopBlock) {
    super();
    this.#first = first;
  }

  override add(block: EventLoopBlock): void {
    super.add(block);
    this.gcMillis += block.gcTimeMillis ?? 0;
    const { cause = 'none' } = block;
    this.#causes[cause] = (this.#causes[cause] ?? 0) + block.durationMillis;
    if (block.code !== undefined) return;
    const reason = whyUnknown(block);
    this.#reasons[reason] = (this.#reasons[reason] ?? 0) + block.durationMillis;
  }

  override read(elapsedMillis: number): PlaceSummary {
    const cause = this.#mainCause();
    const unknown = mostOf(this.#reasons);
    return {
      ...placeOf(this.#first.code),
      ...super.read(elapsedMillis),
      ...(cause !== undefined && { cause }),
      ...(unknown !== undefined && { unknown }),
      gcMillis: this.gcMillis,
    };
  }

  #mainCause(): BlockCause | undefined {
    const { none = 0, ...causes } = this.#causes;
    if (none * 2 > this.millis) return undefined;
    return mostOf(causes);
  }
}

function mostOf<Key extends string>(millis: Partial<Record<Key, number>>): Key | undefined {
  return (Object.entries(millis) as [Key, number][]).sort(([, a], [, b]) => b - a)[0]?.[0];
}

class Places {
  readonly #all = new Totals();
  readonly requests = new Requests();
  readonly #places = new Map<string, Place>();
  readonly #others = new Totals();

  add(block: EventLoopBlock): void {
    this.#all.add(block);
    const key = functionKeyOf(block.code);
    const place = valueFor(this.#places, key, MAX_PLACES, () => new Place(block));
    (place ?? this.#others).add(block);
  }

  /** A block may have begun before the period did, or end after it: it is in it as a whole. */
  read(periodMillis: number, maxPlaces: number): PeriodSummary {
    const elapsedMillis = Math.max(periodMillis, this.#all.millis);
    const stalls = (key: string) => this.requests.ofFunction(key);
    const millisOf = (key: string) => harmOf(stalls(key));
    const sorted = [...this.#places].sort(
      ([a, { millis }], [b, other]) => millisOf(b) - millisOf(a) || other.millis - millis,
    );
    const others = new Totals();
    others.addAll(this.#others);
    let otherStalls: StallTotals | undefined;
    for (const [key, place] of sorted.slice(maxPlaces)) {
      others.addAll(place);
      const ofPlace = stalls(key);
      otherStalls = ofPlace && addStalls(otherStalls ?? {}, ofPlace);
    }
    return {
      elapsedMillis,
      ...this.#all.read(elapsedMillis),
      ...this.requests.all,
      places: sorted
        .slice(0, maxPlaces)
        .map(([key, place]) => ({ ...place.read(elapsedMillis), ...stalls(key) })),
      ...(others.blocks > 0 && { otherPlaces: { ...others.read(elapsedMillis), ...otherStalls } }),
    };
  }
}
