/** Who may have made a block: the spans that voted in it, and those that its stack samples have. */
import { type Context, type Span, trace } from '@opentelemetry/api';
import type { WeightedSample } from '../../block.ts';
import { expectsBlocks } from '../../otel/expected-blocks.ts';
import { isTracingSuppressed } from '../../otel/sdk-internals.ts';

/** A trace that ran for less of a block is not what the block is attributed to. */
export const MIN_TRACE_SHARE = 0.5;

/** Time that was voted for: `weight` of the milliseconds from `from` to `until`. */
export interface Voted {
  from: number;
  until: number;
  weight: number;
}

export interface Vote extends Voted {
  context: Context;
  resourceType: string | undefined;
}

/** All votes of a busy period. */
export interface Cast {
  readonly votes: readonly Vote[];
  /** That of the votes that were dropped: something ran there, too. */
  readonly dropped: Voted | undefined;
}

/** What a block is attributed to. */
export interface Attributed {
  context: Context;
  resourceType: string | undefined;
}

export interface Candidate extends Attributed {
  span: Span | undefined;
  suppressed: boolean;
  expected: boolean;
  /** Milliseconds it voted for. */
  weight: number;
  /** Milliseconds that its samples stand for. */
  sampled: number;
}

export interface Candidates {
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
  const expected = expectsBlocks(context);
  const known = candidates.find(
    (c) =>
      c.suppressed === suppressed &&
      c.expected === expected &&
      (span === undefined ? c.context === context : c.span === span),
  );
  if (known !== undefined) return known;
  const candidate = { context, resourceType, span, suppressed, expected, weight: 0, sampled: 0 };
  candidates.push(candidate);
  return candidate;
}

/** Who ran from `start` to `end`, and for how much of it that is known. */
export function candidatesOf(
  cast: Cast,
  start: number,
  end: number,
  samples: readonly WeightedSample[],
): Candidates {
  const { candidates, known } = votersOf(cast, start, end);
  for (const { weight, context, resourceType } of samples) {
    candidateOf(candidates, context, resourceType).sampled += weight;
  }
  const missing = candidates.map((c) => Math.max(0, c.sampled - c.weight));
  return { candidates, known: shareOut(end - start, known, candidates, missing) };
}

/**
 * As {@link candidatesOf}, inside of one scope or callback. All scopes in it have voted: stack
 * samples say more only of spans that were entered by other means.
 */
export function candidatesIn(
  cast: Cast,
  around: Attributed,
  start: number,
  end: number,
  samples: readonly WeightedSample[],
): Candidates {
  const { candidates, known } = votersOf(cast, start, end);
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

function votersOf({ votes, dropped }: Cast, start: number, end: number): Candidates {
  const candidates: Candidate[] = [];
  let known = dropped === undefined ? 0 : within(dropped, start, end);
  for (const vote of votes) {
    const weight = within(vote, start, end);
    if (weight === 0) continue;
    known += weight;
    candidateOf(candidates, vote.context, vote.resourceType).weight += weight;
  }
  return { candidates, known };
}

/** For how long it surely ran from `start` to `end`: it may have run in all of the time outside. */
export function within({ from, until, weight }: Voted, start: number, end: number): number {
  const outside = Math.max(0, start - from) + Math.max(0, until - end);
  return Math.max(0, weight - outside);
}

/** Those whose trace ran for at least `minimum` milliseconds; without a span, whose context did. */
export function ofTracesThatRan(candidates: readonly Candidate[], minimum: number): Candidate[] {
  const traceIds = candidates.map((c) =>
    c.suppressed ? undefined : c.span?.spanContext().traceId,
  );
  const millis = new Map<string, number>();
  for (const [i, { weight }] of candidates.entries()) {
    const traceId = traceIds[i];
    if (traceId !== undefined) millis.set(traceId, (millis.get(traceId) ?? 0) + weight);
  }
  return candidates.filter(({ weight }, i) => {
    const traceId = traceIds[i];
    return (traceId === undefined ? weight : (millis.get(traceId) as number)) >= minimum;
  });
}
