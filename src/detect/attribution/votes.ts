/**
 * The votes of one busy period: contexts, and the milliseconds that they ran.
 *
 * Bounded: past {@link MAX_VOTES} those of one context are put together, and the lightest half is
 * dropped.
 */
import { type Context, type Span, trace } from '@opentelemetry/api';
import type { Run, WeightedSample } from '../../block.ts';
import { isTracingSuppressed } from '../../otel/sdk-internals.ts';
import type { SpanLineage } from '../surroundings.ts';
import {
  type Attributed,
  type Candidate,
  type Cast,
  candidatesIn,
  candidatesOf,
  MIN_TRACE_SHARE,
  ofTracesThatRan,
  type Vote,
  type Voted,
} from './candidates.ts';
import { allowed, type BlockSpace, SpanCover } from './span-cover.ts';
import { shareOf } from './span-share.ts';

export type { Attributed } from './candidates.ts';

const MAX_VOTES = 64;

export class Votes {
  #votes: Vote[] = [];
  #dropped: Voted | undefined;
  /** When the latest vote was, a time of the clock; NaN before the first. */
  lastVote = Number.NaN;
  readonly #cover: SpanCover;

  /** @param spanStart Unix time at which a span started, NaN where the SDK does not say */
  constructor(
    spanStart: (span: Span) => number,
    private readonly lineage?: SpanLineage,
  ) {
    this.#cover = new SpanCover(spanStart, lineage);
  }

  clear(): void {
    this.lastVote = Number.NaN;
    if (this.#votes.length === 0) return;
    this.#votes = [];
    this.#dropped = undefined;
  }

  /**
   * What began at `from` and ended at `until` ran for `weight` milliseconds of its own; where that
   * is more, with its neighbours before.
   */
  vote(
    from: number,
    until: number,
    weight: number,
    context: Context,
    resourceType: string | undefined,
  ): void {
    this.lastVote = until;
    const voted = { from: Math.min(from, until - weight), until, weight };
    const last = this.#votes[this.#votes.length - 1];
    if (last !== undefined && last.context === context && last.resourceType === resourceType) {
      add(last, voted);
      return;
    }
    if (this.#votes.length === MAX_VOTES) this.#compact();
    this.#votes.push({ ...voted, context, resourceType });
  }

  /** Hot, as {@link shareOf}. */
  shareOf(span: Span, start: number, end: number): number | undefined {
    return shareOf(span, this.#cast, start, end, this.lineage);
  }

  /** All that ran from `start` to `end`. */
  candidates(start: number, end: number, samples: readonly WeightedSample[]): Candidate[] {
    return candidatesOf(this.#cast, start, end, samples).candidates;
  }

  /**
   * What the time from `start` to `end` is attributed to (`startEpoch`: Unix time of the start), or
   * undefined where too little of it is known.
   *
   * The heaviest wins. But a child must not start before its parent, nor outlast it, so a span that
   * started long after the block cannot show it whole: then the heaviest that can is taken, if it
   * ran at least half as long; else the heaviest after all, where most of the block is left, and
   * `minimum`, or else the span around it. Where the heaviest had ended when other code ran, the
   * innermost span around it that covers the block is taken, or one that covers most of it; else
   * the heaviest that covers it, if it ran at least half as long; else the heaviest after all,
   * where it covers most of it.
   *
   * Votes are exact. Time without votes (promise reactions without promise hooks) is shared out by
   * the stack samples: each candidate gets what its samples stand for, less its own votes.
   *
   * @param isOneCallback what ran after a span had ended is a part of the same call
   * @param all {@link candidates}, if they are known
   */
  attribute(
    start: number,
    end: number,
    startEpoch: number,
    minimum: number,
    samples: readonly WeightedSample[] = [],
    isOneCallback = false,
    all: readonly Candidate[] = this.candidates(start, end, samples),
  ): Attributed | undefined {
    const space = { start, end, startEpoch };
    const length = end - start;
    const candidates = ofTracesThatRan(all, length * MIN_TRACE_SHARE).sort(
      (a, b) => b.weight - a.weight,
    );
    const [heaviest] = candidates;
    if (heaviest === undefined) return undefined;

    const isOver = (c: Candidate) =>
      !isOneCallback && !c.suppressed && this.#isOver(c.context, space, samples);
    const heaviestIsOver = isOver(heaviest);
    const around = () => this.#around(heaviest, space, minimum, candidates);
    if (heaviestIsOver) {
      const covering = around();
      if (covering !== undefined) return covering;
    }
    const isWhole = (c: Candidate) => !this.#cover.isLate(c.span, space);
    if (!heaviestIsOver && isWhole(heaviest)) return heaviest;
    const whole = candidates.find(
      (c) => c.span && !c.suppressed && c.weight * 2 >= heaviest.weight && isWhole(c) && !isOver(c),
    );
    if (whole !== undefined) return whole;
    if (this.#cover.showsMost(heaviest.span, space, minimum, heaviestIsOver)) return heaviest;
    return heaviestIsOver ? undefined : around();
  }

  /**
   * What a block of one scope or callback is attributed to: where its span had ended when code of
   * others ran, the innermost span around it that covers the block.
   */
  covering(
    attributed: Attributed,
    start: number,
    end: number,
    startEpoch: number,
    samples: readonly WeightedSample[],
  ): Attributed {
    const { context } = attributed;
    const space = { start, end, startEpoch };
    if (isTracingSuppressed(context) || !this.#isOver(context, space, samples)) return attributed;
    const { candidates } = candidatesIn(this.#cast, attributed, start, end, samples);
    return this.#around(attributed, space, 0, candidates) ?? attributed;
  }

  /**
   * How long each span ran from `start` to `end`.
   * @param around the context of the one scope or callback that all of it ran in, where it did:
   *   what nothing inside it voted for was its own
   */
  ran(start: number, end: number, samples: readonly WeightedSample[], around?: Attributed): Run[] {
    return runsOf(
      around === undefined
        ? this.candidates(start, end, samples)
        : candidatesIn(this.#cast, around, start, end, samples).candidates,
    );
  }

  /**
   * The span that all stack samples have, where it lies inside the one that the block is attributed
   * to: `dd-trace` and Sentry run handlers in an AsyncLocalStorage of their own, and
   * `context.attach` has no scope.
   */
  enteredIn(
    around: Attributed,
    start: number,
    end: number,
    startEpoch: number,
    samples: readonly WeightedSample[],
  ): Attributed {
    const context = samples[0]?.context;
    const span = context && trace.getSpan(context);
    if (context === undefined || span === undefined) return around;
    if (this.#cover.isLate(span, { start, end, startEpoch })) return around;
    const isInAll = samples.every(
      (s) => trace.getSpan(s.context) === span && !isTracingSuppressed(s.context),
    );
    return isInAll ? { ...around, context } : around;
  }

  /** Whether the span of a context had ended when code of others ran for a while. */
  #isOver(context: Context, space: BlockSpace, samples: readonly WeightedSample[]): boolean {
    const span = trace.getSpan(context);
    const over = this.#cover.endIn(span, space);
    if (over === undefined) return false;
    let voted = 0;
    for (const { from, until, weight, context: by } of this.#votes) {
      if (trace.getSpan(by) === span) continue;
      const after = Math.min(until, space.end) - Math.max(from, over);
      voted += Math.min(weight, Math.max(0, after));
    }
    const sampled = samples
      .filter(({ time, context: by }) => time >= over && trace.getSpan(by) !== span)
      .reduce((sum, { weight }) => sum + weight, 0);
    return Math.max(voted, sampled) > allowed(space);
  }

  get #cast(): Cast {
    return { votes: this.#votes, dropped: this.#dropped };
  }

  /** The span around one, and around what else ran in its trace for a while. */
  #around(
    { context, resourceType }: Attributed,
    space: BlockSpace,
    minimum: number,
    candidates: readonly Candidate[],
  ): Attributed | undefined {
    if (isTracingSuppressed(context)) return undefined;
    const traceId = trace.getSpanContext(context)?.traceId;
    const others = candidates
      .filter(
        ({ span, weight }) => weight > allowed(space) && span?.spanContext().traceId === traceId,
      )
      .map((other) => other.context);
    const around = this.#cover.around(context, space, minimum, others);
    return around && { context: around, resourceType };
  }

  #compact(): void {
    const byContext = new Map<Context, Vote>();
    for (const vote of this.#votes) {
      const same = byContext.get(vote.context);
      if (same === undefined) byContext.set(vote.context, vote);
      else add(same, vote);
    }
    const byWeight = [...byContext.values()].sort((a, b) => b.weight - a.weight);
    for (const { from, until, weight } of byWeight.slice(MAX_VOTES / 2)) {
      if (this.#dropped === undefined) this.#dropped = { from, until, weight };
      else add(this.#dropped, { from, until, weight });
    }
    this.#votes = byWeight.slice(0, MAX_VOTES / 2).sort((a, b) => a.from - b.from);
  }
}

/** How long the span of each candidate ran. */
export function runsOf(candidates: readonly Candidate[]): Run[] {
  return candidates
    .filter(({ span, suppressed, weight }) => span !== undefined && !suppressed && weight > 0)
    .map(({ context, weight }) => ({ context, millis: weight }));
}

function add(to: Voted, { from, until, weight }: Voted): void {
  to.from = Math.min(to.from, from);
  to.until = Math.max(to.until, until);
  to.weight += weight;
}
