/**
 * How long each context ran in a busy period: scopes and callbacks vote with the time that they
 * ran, once the busy period has grown old; stack samples stand for the time without votes.
 *
 * Guarantees: memory is bounded. The longest votes are kept; the time of the others is time without
 * votes.
 */
import { type Context, type Span, trace } from '@opentelemetry/api';
import type { Run, WeightedSample } from '../../../block.ts';
import { expectsBlocks } from '../../../otel/context-marks.ts';
import { isTracingSuppressed } from '../../../otel/sdk-internals.ts';
import { traceOf } from './stack-samples.ts';

const MAX_VOTES = 64;

/** Voting begins at this share of the threshold. */
const VOTE_SHARE = 0.05;
/**
 * A scope that is shorter, as a share of the threshold, votes with what is around it: a GraphQL
 * query enters thousands, and a vote takes 1 to 14 µs (`npm run bench -- overload --only scopes`).
 */
const MIN_SCOPE_SHARE = 0.001;
/** The type of a resource that is entered inside of another one's callback. */
const NESTED = 'AsyncResource';

export interface Attributed {
  readonly context: Context;
  readonly resourceType: string | undefined;
}

/** The context that the time of a scope, callback or sample counts for. */
export type OwnerOf = (by: Attributed, start: number, end: number) => Context;

/** The context ran for `millis` of the milliseconds from `from` to `until`. */
interface Vote extends Attributed {
  from: number;
  until: number;
  millis: number;
}

/** A context that ran in a block; contexts of one span are one candidate. */
export interface Candidate extends Attributed {
  resourceType: string | undefined;
  readonly span: Span | undefined;
  /** An exporter at work in a span's scope has that span in its context, and is not that span. */
  readonly suppressed: boolean;
  millis: number;
  /** The part of `millis` that it voted for. */
  voted: number;
  /** How many stack samples found it. */
  samples: number;
  /** Milliseconds that its stack samples stand for. */
  sampled: number;
}

export class Votes {
  /** Milliseconds voted for so far. A scope takes note of it when it begins. */
  voted = 0.5;
  /** Scopes vote from this time on. */
  #scopesVoteFrom = Number.POSITIVE_INFINITY;
  #votes: Vote[] = [];
  readonly #step: number;
  readonly #minScope: number;

  constructor(private readonly thresholdMillis: number) {
    this.#step = thresholdMillis * VOTE_SHARE;
    this.#minScope = thresholdMillis * MIN_SCOPE_SHARE;
  }

  /** A busy period begins at `t`. */
  open(t: number): void {
    this.#scopesVoteFrom = t + this.#step;
    if (this.#votes.length !== 0) this.#votes = [];
  }

  /** Hot. Whether a scope from `start` to `end` is to vote. */
  isVote(start: number, end: number): boolean {
    return end >= this.#scopesVoteFrom && end - start >= this.#minScope;
  }

  /** A scope votes for its own time, without what was voted for inside it. */
  voteScope(start: number, end: number, votedBefore: number, by: Attributed): void {
    this.vote(start, end, end - start - (this.voted - votedBefore), by);
  }

  /** Votes for `millis` of the time until `until`; more than began at `from` is its neighbors'. */
  vote(from: number, until: number, millis: number, { context, resourceType }: Attributed): void {
    this.voted += millis;
    const vote = { from: Math.min(from, until - millis), until, millis, context, resourceType };
    const last = this.#votes[this.#votes.length - 1];
    // A block may lie between them, which does not count for either.
    const isNext = last !== undefined && vote.from - last.until < this.thresholdMillis;
    if (isNext && isOne(last.context, context) && last.resourceType === resourceType) {
      join(last, vote);
      return;
    }
    if (this.#votes.length < MAX_VOTES) {
      this.#votes.push(vote);
      return;
    }
    const same = this.#votes.find((each) => isOne(each.context, context));
    if (same !== undefined) join(same, vote);
    else this.#replaceShortest(vote);
  }

  /**
   * The contexts that ran from `start` to `end`, and for how long. Votes are exact;
   * `src/core/record/attribution/README.md` says how the time without votes is divided.
   */
  candidates(
    start: number,
    end: number,
    samples: readonly WeightedSample[],
    around?: Attributed,
    ownerOf: OwnerOf = ({ context }) => context,
  ): Candidate[] {
    const candidates: Candidate[] = [];
    const candidateOf = (by: Attributed, from: number, until: number) => {
      const { resourceType } = by;
      return candidateIn(candidates, { context: ownerOf(by, from, until), resourceType });
    };
    for (const vote of this.#votes) {
      const millis = within(vote, start, end);
      if (millis > 0) candidateOf(vote, vote.from, vote.until).millis += millis;
    }
    for (const candidate of candidates) candidate.voted = candidate.millis;
    const own = around && candidateOf(around, start, end);
    for (const sample of samples) {
      const candidate = candidateOf(sample, start, end);
      candidate.sampled += sample.weight;
      candidate.samples++;
    }
    divide(candidates, end - start, own);
    return candidates;
  }

  /** Until when other traces than that of `own` ran before `time`, by votes. */
  othersUntil(own: Context, time: number): number {
    const ends = this.#votes
      .filter(({ context, until }) => {
        const other = traceOf(context);
        return until <= time && other !== undefined && other !== traceOf(own);
      })
      .map(({ until }) => until);
    return Math.max(Number.NEGATIVE_INFINITY, ...ends);
  }

  hasVotesIn(start: number, end: number): boolean {
    return this.#votes.some((vote) => within(vote, start, end) > 0);
  }

  /** At most how long other spans than `span` ran from `start` to `end`, by votes. */
  othersIn(span: Span, start: number, end: number): number {
    const others = this.#votes.filter(({ context }) => trace.getSpan(context) !== span);
    return sumOf(others, ({ from, until, millis }) =>
      Math.min(millis, Math.max(0, Math.min(until, end) - Math.max(from, start))),
    );
  }

  #replaceShortest(vote: Vote): void {
    const all = this.#votes.map(({ millis }) => millis);
    const shortest = Math.min(...all);
    if (shortest < vote.millis) this.#votes.splice(all.indexOf(shortest), 1, vote);
  }
}

/** How long the span of each candidate ran. */
export function runsOf(candidates: readonly Candidate[]): Run[] {
  return candidates
    .filter(({ span, suppressed, millis }) => span !== undefined && !suppressed && millis > 0)
    .map(({ context, millis }) => ({ context, millis }));
}

/**
 * Whether the code of two contexts is that of one span: dd-trace and Sentry make a context for each
 * scope. Code that is expected to block, and an exporter's, is kept apart from the other.
 */
function isOne(a: Context, b: Context): boolean {
  if (a === b) return true;
  const span = trace.getSpan(a);
  return (
    span !== undefined &&
    span === trace.getSpan(b) &&
    isTracingSuppressed(a) === isTracingSuppressed(b) &&
    expectsBlocks(a) === expectsBlocks(b)
  );
}

/** The candidate that a context belongs to; made if it is the first of it. */
function candidateIn(candidates: Candidate[], { context, resourceType }: Attributed): Candidate {
  const known = candidates.find((each) => isOne(each.context, context));
  if (known?.resourceType === NESTED) known.resourceType = resourceType;
  if (known !== undefined) return known;
  const nothing = { millis: 0, voted: 0, samples: 0, sampled: 0 };
  const span = trace.getSpan(context);
  const suppressed = isTracingSuppressed(context);
  const candidate = { context, resourceType, span, suppressed, ...nothing };
  candidates.push(candidate);
  return candidate;
}

/** Divides the time that nobody voted for. */
function divide(candidates: readonly Candidate[], length: number, own?: Candidate): void {
  const unknown = length - sumOf(candidates, ({ millis }) => millis);
  if (!(unknown > 0)) return;
  const shares = candidates.map((c) => {
    if (own === undefined) return Math.max(0, c.sampled - c.millis);
    return c === own || c.millis > 0 ? 0 : c.sampled;
  });
  const remainder = Math.max(0, unknown - sumOf(shares, (share) => share));
  if (own !== undefined) shares[candidates.indexOf(own)] = remainder;
  const all = sumOf(shares, (share) => share);
  if (all === 0) return;
  for (const [i, candidate] of candidates.entries()) {
    candidate.millis += ((shares[i] as number) / all) * unknown;
  }
}

/** The time that surely lies from `start` to `end`: it may have run in all of the time outside. */
function within({ from, until, millis }: Vote, start: number, end: number): number {
  const outside = Math.max(0, start - from) + Math.max(0, until - end);
  return Math.max(0, millis - outside);
}

function join(to: Vote, { from, until, millis }: Vote): void {
  to.from = Math.min(to.from, from);
  to.until = Math.max(to.until, until);
  to.millis += millis;
}

function sumOf<T>(items: readonly T[], millisOf: (item: T) => number): number {
  return items.reduce((sum, item) => sum + millisOf(item), 0);
}
