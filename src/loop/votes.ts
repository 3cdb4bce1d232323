/**
 * Who held the loop, when many short steps did it together: a vote. Once an iteration has grown old, whoever is seen
 * running gets votes that weigh the time it ran, in milliseconds.
 *
 * Bounded: past {@link MAX_VOTES} those of one context are put together, and the lightest half is forgotten.
 */
import { type Context, type Span, trace } from '@opentelemetry/api';
import type { WeightedSample } from '../block.ts';
import { isTracingSuppressed } from '../otel/sdk-internals.ts';

const MAX_VOTES = 64;

/** Votes must account for this share of a block: where most of it was unseen, nobody is blamed. */
const MIN_COVERAGE = 0.5;

/** A span may start this much later than its block and still carry it: the callback's own preamble. */
const MAX_LATE_MILLIS = 2;
const MAX_LATE_SHARE = 0.02;
/** A span that started later is blamed only if it still shows this share of the block. */
const MIN_SHOWN = 0.75;

const allowedLate = (length: number) => Math.max(MAX_LATE_MILLIS, length * MAX_LATE_SHARE);

interface Vote {
  from: number;
  until: number;
  weight: number;
  context: Context;
  resourceType: string | undefined;
}

/** The outcome of a vote. */
export interface Verdict {
  context: Context;
  resourceType: string | undefined;
}

interface Candidate extends Verdict {
  span: Span | undefined;
  suppressed: boolean;
  /** Milliseconds it voted for. */
  weight: number;
  /** Milliseconds that its samples stand for. */
  sampled: number;
}

function candidateOf(candidates: Candidate[], context: Context, resourceType: string | undefined): Candidate {
  const span = trace.getSpan(context);
  // An exporter at work in a span's scope has that span in its context: it is not the span that ran.
  const suppressed = isTracingSuppressed(context);
  const known = candidates.find(
    (c) => c.suppressed === suppressed && (span === undefined ? c.context === context : c.span === span),
  );
  if (known !== undefined) return known;
  const candidate = { context, resourceType, span, suppressed, weight: 0, sampled: 0 };
  candidates.push(candidate);
  return candidate;
}

export class Blame {
  #votes: Vote[] = [];
  /** Weight of forgotten votes: somebody ran there, too. */
  #forgotten = 0;
  /** When the latest vote was, a time of the clock; NaN before the first. */
  lastVote = Number.NaN;
  /** Unix time in milliseconds at which a span started, or NaN where the SDK does not say. */
  readonly #spanStart: (span: Span) => number;

  constructor(spanStart: (span: Span) => number) {
    this.#spanStart = spanStart;
  }

  clear(): void {
    this.lastVote = Number.NaN;
    if (this.#votes.length === 0) return;
    this.#votes = [];
    this.#forgotten = 0;
  }

  /** What began at `from` and ended at `until` ran for `weight` milliseconds of its own. */
  vote(
    from: number,
    until: number,
    weight: number,
    context: Context,
    resourceType: string | undefined,
  ): void {
    this.lastVote = until;
    const last = this.#votes[this.#votes.length - 1];
    if (last !== undefined && last.context === context && last.resourceType === resourceType) {
      last.until = until;
      last.weight += weight;
      return;
    }
    if (this.#votes.length === MAX_VOTES) this.#compact();
    this.#votes.push({ from, until, weight, context, resourceType });
  }

  /**
   * Who held the loop from `start` to `end` (Unix time of the start: `startEpoch`), or undefined where nobody was seen.
   *
   * The heaviest wins, except that a span which started long after the block cannot show it at its full length, a child
   * must not start before its parent: then the heaviest that can is taken, if it ran at least half as long. Else the heaviest
   * after all, where it shows most of the block and no less than `minimum`.
   *
   * Votes are exact for what they saw. What nobody voted for (promise reactions without promise hooks) is shared out by the
   * captures: each candidate gets what its samples stand for, less what it voted for itself.
   */
  verdict(
    start: number,
    end: number,
    startEpoch: number,
    minimum: number,
    samples: readonly WeightedSample[] = [],
  ): Verdict | undefined {
    const length = end - start;
    const candidates: Candidate[] = [];
    let seen = this.#forgotten;
    for (const { from, until, weight, context, resourceType } of this.#votes) {
      if (until <= start || from >= end) continue;
      seen += weight;
      candidateOf(candidates, context, resourceType).weight += weight;
    }
    for (const { weight, context, resourceType } of samples) {
      candidateOf(candidates, context, resourceType).sampled += weight;
    }
    const missing = candidates.map((c) => Math.max(0, c.sampled - c.weight));
    const allMissing = missing.reduce((sum, millis) => sum + millis, 0);
    if (seen < length && allMissing > 0) {
      for (const [i, candidate] of candidates.entries()) {
        candidate.weight += ((missing[i] as number) / allMissing) * (length - seen);
      }
      seen = length;
    }
    if (seen < length * MIN_COVERAGE) return undefined;
    candidates.sort((a, b) => b.weight - a.weight);
    const [heaviest] = candidates;
    if (heaviest === undefined) return undefined;

    const lateBy = ({ span }: Candidate) => this.#lateBy(span, startEpoch);
    const isWhole = (c: Candidate) => lateBy(c) <= allowedLate(length);
    if (isWhole(heaviest)) return heaviest;
    const whole = candidates.find(
      (c) => c.span && !c.suppressed && isWhole(c) && c.weight * 2 >= heaviest.weight,
    );
    if (whole !== undefined) return whole;
    return length - lateBy(heaviest) >= Math.max(minimum, length * MIN_SHOWN) ? heaviest : undefined;
  }

  /**
   * The span that all captures saw in what is blamed on the one around it, or the latter: not everybody makes a span active by the
   * context manager. `dd-trace` and Sentry run handlers in an AsyncLocalStorage of their own, and `context.attach` has no scope.
   */
  enteredIn(
    blamed: Verdict,
    start: number,
    end: number,
    startEpoch: number,
    samples: readonly WeightedSample[],
  ): Verdict {
    const context = samples[0]?.context;
    const span = context && trace.getSpan(context);
    if (context === undefined || span === undefined) return blamed;
    if (this.#lateBy(span, startEpoch) > allowedLate(end - start)) return blamed;
    const isSeenByAll = samples.every(
      (s) => trace.getSpan(s.context) === span && !isTracingSuppressed(s.context),
    );
    return isSeenByAll ? { ...blamed, context } : blamed;
  }

  /** By how much a span started after the block: a child must not start before its parent. */
  #lateBy(span: Span | undefined, startEpoch: number): number {
    const spanStart = span === undefined ? Number.NaN : this.#spanStart(span);
    return Number.isNaN(spanStart) ? 0 : spanStart - startEpoch;
  }

  #compact(): void {
    const byContext = new Map<Context, Vote>();
    for (const vote of this.#votes) {
      const same = byContext.get(vote.context);
      if (same === undefined) byContext.set(vote.context, vote);
      else {
        same.until = vote.until;
        same.weight += vote.weight;
      }
    }
    const byWeight = [...byContext.values()].sort((a, b) => b.weight - a.weight);
    for (const { weight } of byWeight.slice(MAX_VOTES / 2)) this.#forgotten += weight;
    this.#votes = byWeight.slice(0, MAX_VOTES / 2).sort((a, b) => a.from - b.from);
  }
}
