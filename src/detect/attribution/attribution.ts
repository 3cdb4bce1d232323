/**
 * Which context a block is attributed to, where many short steps made it together: callbacks and
 * scopes vote with the time that they ran, once a busy period has grown old; stack samples stand
 * for the time without votes.
 */
import { type Span, trace } from '@opentelemetry/api';
import type { OngoingPileUp, Run, StackSample, WeightedSample } from '../../block.ts';
import type { Clock } from '../../support/clock.ts';
import { StackSamples } from '../stack-samples.ts';
import type { Surroundings } from '../surroundings.ts';
import { type Attributed, runsOf, Votes } from './votes.ts';

/** Voting begins at this share of the threshold; votes of callbacks are as far apart. */
const VOTE_SHARE = 0.05;
/**
 * A scope that is shorter votes with what is around it: a GraphQL query enters thousands, and a
 * vote takes 1 to 14 µs (`npm run bench -- overload --only scopes`).
 */
const MIN_SCOPE_SHARE = 0.001;

export class Attribution {
  /** Milliseconds voted for so far. A scope and a callback take note of it when they begin. */
  voted = 0.5;
  /** From when on scopes, and callbacks, vote. */
  scopesVoteFrom = Number.POSITIVE_INFINITY;
  callbacksVoteFrom = Number.POSITIVE_INFINITY;
  readonly #minScope: number;
  readonly #votes: Votes;
  readonly #samples = new StackSamples();
  readonly #step: number;

  constructor(
    private readonly thresholdMillis: number,
    private readonly clock: Clock,
    { spanStart, lineage }: Pick<Surroundings, 'spanStart' | 'lineage'>,
  ) {
    this.#step = thresholdMillis * VOTE_SHARE;
    this.#minScope = thresholdMillis * MIN_SCOPE_SHARE;
    this.#votes = new Votes(spanStart, lineage);
  }

  /** A busy period begins at `t`. */
  open(t: number): void {
    this.scopesVoteFrom = t + this.#step;
    this.callbacksVoteFrom = this.scopesVoteFrom;
    this.#votes.clear();
    this.#samples.clear();
  }

  clear(): void {
    this.open(Number.POSITIVE_INFINITY);
  }

  add(sample: StackSample): void {
    this.#samples.add(sample);
  }

  /** As {@link StackSamples.codeSeenAt}. */
  get codeSeenAt(): number {
    return this.#samples.codeSeenAt;
  }

  /** Hot. Whether a scope from `start` to `end` is to vote. */
  isVote(start: number, end: number): boolean {
    return end >= this.scopesVoteFrom && end - start >= this.#minScope;
  }

  /** The stack samples from `start` to `end`. */
  samplesWithin(start: number, end: number): WeightedSample[] {
    return this.#samples.within(start, end);
  }

  /** A scope votes for its own time, less what was voted for inside it. */
  voteScope(start: number, end: number, votedBefore: number, by: Attributed): void {
    this.#vote(start, end, end - start - (this.voted - votedBefore), by);
  }

  /**
   * A callback of a drain or a pile-up votes for its own time, and for its short neighbours since
   * the latest vote.
   */
  voteCallback(start: number, end: number, votedBefore: number, by: Attributed): void {
    const own = end - start - (this.voted - votedBefore);
    const { lastVote } = this.#votes;
    const shared = Number.isNaN(lastVote) ? this.#step : Math.min(end - lastVote, this.#step);
    this.#vote(start, end, Math.max(own, shared), by);
    this.callbacksVoteFrom = end + this.#step;
  }

  /** What ran most from `start` to `end`; undefined where too little of it is known. */
  of(
    start: number,
    end: number,
    samples: readonly WeightedSample[],
    isOneCallback = false,
  ): Attributed | undefined {
    return this.#votes.attribute(
      start,
      end,
      this.clock.epoch(start),
      this.thresholdMillis,
      samples,
      isOneCallback,
    );
  }

  /** Hot, as {@link Votes.shareOf}. */
  shareOf(span: Span, start: number, end: number): number | undefined {
    return this.#votes.shareOf(span, start, end);
  }

  /** Of a pile-up that has not ended. */
  pileUp(start: number, end: number): Omit<OngoingPileUp, 'cpu'> {
    const samples = this.samplesWithin(start, end);
    const all = this.#votes.candidates(start, end, samples);
    const { thresholdMillis, clock } = this;
    const context = this.#votes.attribute(
      start,
      end,
      clock.epoch(start),
      thresholdMillis,
      samples,
      false,
      all,
    )?.context;
    return { start, end, context, ran: runsOf(all) };
  }

  /** As {@link Votes.ran}. */
  ran(start: number, end: number, samples: readonly WeightedSample[], around?: Attributed): Run[] {
    return this.#votes.ran(start, end, samples, around);
  }

  /**
   * What a part of a callback is attributed to: the callback's own context; where that has no span
   * (an HTTP server's callback has none, its handler runs in a scope), the scope that ran most in
   * it. Code that runs after a span has ended is the same call's.
   */
  ofCallback(
    running: Attributed,
    start: number,
    end: number,
    samples: readonly WeightedSample[],
  ): Attributed {
    if (trace.getSpan(running.context) !== undefined) return running;
    const { context = running.context } = this.of(start, end, samples, true) ?? {};
    return { ...running, context };
  }

  /** As {@link Votes.enteredIn}. */
  enteredIn(
    around: Attributed,
    start: number,
    end: number,
    samples: readonly WeightedSample[],
  ): Attributed {
    return this.#votes.enteredIn(around, start, end, this.clock.epoch(start), samples);
  }

  /** As {@link Votes.covering}. */
  covering(
    around: Attributed,
    start: number,
    end: number,
    samples: readonly WeightedSample[],
  ): Attributed {
    return this.#votes.covering(around, start, end, this.clock.epoch(start), samples);
  }

  #vote(start: number, end: number, weight: number, by: Attributed): void {
    this.voted += weight;
    this.#votes.vote(start, end, weight, by.context, by.resourceType);
  }
}
