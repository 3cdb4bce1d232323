/**
 * The votes of one busy period: contexts, and the milliseconds that they ran.
 *
 * Bounded: past {@link MAX_VOTES} those of one context are put together, and the lightest half is
 * dropped.
 */
import { type Context, type Span, trace } from '@opentelemetry/api';
import type { Run, WeightedSample } from '../block.ts';
import { isTracingSuppressed } from '../otel/sdk-internals.ts';

const MAX_VOTES = 64;

/** Votes must account for this share of a block; below it, the block is attributed to nothing. */
const MIN_COVERAGE = 0.5;

/**
 * A span may start this much later than its block and still carry it: the callback's own preamble.
 */
const MAX_LATE_MILLIS = 2;
const MAX_LATE_SHARE = 0.02;
/** A block is attributed to a span that started later only if this share of it is left. */
const MIN_SHOWN = 0.75;

const allowedLate = (length: number) => Math.max(MAX_LATE_MILLIS, length * MAX_LATE_SHARE);

interface Vote {
  from: number;
  until: number;
  weight: number;
  context: Context;
  resourceType: string | undefined;
}

/** What a block is attributed to. */
export interface Attributed {
  context: Context;
  resourceType: string | undefined;
}

interface Candidate extends Attributed {
  span: Span | undefined;
  suppressed: boolean;
  /** Milliseconds it voted for. */
  weight: number;
  /** Milliseconds that its samples stand for. */
  sampled: number;
}

interface Candidates {
  readonly candidates: Candidate[];
  /** Milliseconds that are accounted for. */
  readonly known: number;
}

/** Shares out the time that nothing is known of. Returns for how much something is known then. */
function shareOut(
  length: number,
  known: number,
  candidates: readonly Candidate[],
  missing: readonly number[],
): number {
  const allMissing = missing.reduce((sum, millis) => sum + millis, 0);
  if (known >= length || allMissing === 0) return known;
  for (const [i, candidate] of candidates.entries()) {
    candidate.weight += ((missing[i] as number) / allMissing) * (length - known);
  }
  return length;
}

function candidateOf(
  candidates: Candidate[],
  context: Context,
  resourceType: string | undefined,
): Candidate {
  const span = trace.getSpan(context);
  // An exporter at work in a span's scope has that span in its context: it is not the span that
  // ran.
  const suppressed = isTracingSuppressed(context);
  const known = candidates.find(
    (c) =>
      c.suppressed === suppressed && (span === undefined ? c.context === context : c.span === span),
  );
  if (known !== undefined) return known;
  const candidate = { context, resourceType, span, suppressed, weight: 0, sampled: 0 };
  candidates.push(candidate);
  return candidate;
}

export class Votes {
  #votes: Vote[] = [];
  /** Weight of the dropped votes: something ran there, too. */
  #dropped = 0;
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
    this.#dropped = 0;
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
   * What the time from `start` to `end` is attributed to (`startEpoch`: Unix time of the start), or
   * undefined where too little of it is known.
   *
   * The heaviest wins. But a child must not start before its parent, so a span that started long
   * after the block cannot show it whole: then the heaviest that can is taken, if it ran at least
   * half as long; else the heaviest after all, where most of the block is left, and `minimum`.
   *
   * Votes are exact. Time without votes (promise reactions without promise hooks) is shared out by
   * the stack samples: each candidate gets what its samples stand for, less its own votes.
   */
  attribute(
    start: number,
    end: number,
    startEpoch: number,
    minimum: number,
    samples: readonly WeightedSample[] = [],
  ): Attributed | undefined {
    const length = end - start;
    const { candidates, known } = this.#candidates(start, end, samples);
    if (known < length * MIN_COVERAGE) return undefined;
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
    return length - lateBy(heaviest) >= Math.max(minimum, length * MIN_SHOWN)
      ? heaviest
      : undefined;
  }

  /**
   * How long each span ran from `start` to `end`.
   * @param around the context of the one scope or callback that all of it ran in, where it did:
   *   what nothing inside it voted for was its own
   */
  ran(start: number, end: number, samples: readonly WeightedSample[], around?: Attributed): Run[] {
    const { candidates, known } =
      around === undefined
        ? this.#candidates(start, end, samples)
        : this.#candidatesIn(around, start, end, samples);
    // Votes of which a part lies outside.
    const scale = Math.min(1, (end - start) / known);
    return candidates
      .filter(({ span, suppressed, weight }) => span !== undefined && !suppressed && weight > 0)
      .map(({ context, weight }) => ({ context, millis: weight * scale }));
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
    if (this.#lateBy(span, startEpoch) > allowedLate(end - start)) return around;
    const isInAll = samples.every(
      (s) => trace.getSpan(s.context) === span && !isTracingSuppressed(s.context),
    );
    return isInAll ? { ...around, context } : around;
  }

  /** Who ran from `start` to `end`, and for how much of it that is known. */
  #candidates(start: number, end: number, samples: readonly WeightedSample[]): Candidates {
    const { candidates, known } = this.#voters(start, end);
    for (const { weight, context, resourceType } of samples) {
      candidateOf(candidates, context, resourceType).sampled += weight;
    }
    const missing = candidates.map((c) => Math.max(0, c.sampled - c.weight));
    return { candidates, known: shareOut(end - start, known, candidates, missing) };
  }

  /**
   * As #candidates, inside of one scope or callback. All scopes in it have voted: stack samples say
   * more only of spans that were entered by other means.
   */
  #candidatesIn(
    around: Attributed,
    start: number,
    end: number,
    samples: readonly WeightedSample[],
  ): Candidates {
    const { candidates, known } = this.#voters(start, end);
    const own = candidateOf(candidates, around.context, around.resourceType);
    const voters = [...candidates];
    let sampledElsewhere = 0;
    for (const { weight, context, resourceType } of samples) {
      const candidate = candidateOf(candidates, context, resourceType);
      if (voters.includes(candidate)) continue;
      candidate.sampled += weight;
      sampledElsewhere += weight;
    }
    const missing = candidates.map((c) => c.sampled);
    missing[candidates.indexOf(own)] = Math.max(0, end - start - known - sampledElsewhere);
    return { candidates, known: shareOut(end - start, known, candidates, missing) };
  }

  #voters(start: number, end: number): Candidates {
    const candidates: Candidate[] = [];
    let known = this.#dropped;
    for (const { from, until, weight, context, resourceType } of this.#votes) {
      if (until <= start || from >= end) continue;
      known += weight;
      candidateOf(candidates, context, resourceType).weight += weight;
    }
    return { candidates, known };
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
    for (const { weight } of byWeight.slice(MAX_VOTES / 2)) this.#dropped += weight;
    this.#votes = byWeight.slice(0, MAX_VOTES / 2).sort((a, b) => a.from - b.from);
  }
}
