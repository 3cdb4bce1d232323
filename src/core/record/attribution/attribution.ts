/**
 * Finds the span that a block is attributed to, by the five rules of `src/core/record/README.md`
 * ("Which span is the parent"), which has a real set-up for each. `owner.ts` comes before them:
 * what runs in the context of a request that ended before is not that request's.
 *
 * Guarantees: a block is never attributed by chance. If several callbacks made it, the trace that
 * it is attributed to ran for at least half of it.
 */
import { type Context, type Span, trace } from '@opentelemetry/api';
import type { OngoingPileUp, Run, WeightedSample } from '../../../block.ts';
import { expectsBlocks } from '../../../otel/context-marks.ts';
import { isTracingSuppressed } from '../../../otel/sdk-internals.ts';
import type { Clock } from '../../../support/clock.ts';
import type { SpanFacts } from '../running-code.ts';
import { Owners } from './owner.ts';
import { StackSamples } from './stack-samples.ts';
import { type Attributed, type Candidate, type OwnerOf, runsOf, Votes } from './votes.ts';

/** A span may start or end by this much inside of its block: the callback's own preamble. */
const MAX_UNCOVERED_MILLIS = 2;
const MAX_UNCOVERED_SHARE = 0.02;
/** The share of a block that a span must have been open for. */
const MIN_OPEN_SHARE = 0.75;
/** A block is attributed to a trace only if it ran for this share of the block. */
const MIN_TRACE_SHARE = 0.5;
/** Spans around a span. */
const MAX_DEPTH = 128;

export interface Facts {
  readonly attributed: Attributed | undefined;
  readonly ran: Run[];
  readonly samples: WeightedSample[];
}

interface Part {
  readonly start: number;
  readonly end: number;
  /** Unix time of the start. */
  readonly startEpoch: number;
  readonly samples: readonly WeightedSample[];
  readonly isPileUp: boolean;
}

export class Attribution {
  readonly votes: Votes;
  readonly samples = new StackSamples();
  #periodStart = Number.NaN;

  constructor(
    private readonly thresholdMillis: number,
    private readonly clock: Pick<Clock, 'epoch'>,
    private readonly spans: SpanFacts,
  ) {
    this.votes = new Votes(thresholdMillis);
  }

  /** A busy period begins at `t`. */
  open(t: number): void {
    this.#periodStart = t;
    this.votes.open(t);
    this.samples.clear();
  }

  /** Attributes a pile-up that has not ended. */
  pileUp(start: number, end: number, busySince: number): Omit<OngoingPileUp, 'cpu'> {
    const { attributed, ran } = this.of(start, end, undefined, true, busySince);
    return { start, end, context: attributed?.context, ran };
  }

  /**
   * @param running the one scope or callback that all of the time from `start` to `end` is a part
   *   of, if there is one
   * @param isPileUp whether it is made of many short callbacks
   * @param busySince when the loop has waited last: what ran since then runs without a break
   */
  of(
    start: number,
    end: number,
    running?: Attributed,
    isPileUp = false,
    busySince = this.#periodStart,
  ): Facts {
    const ownerOf = this.owners(busySince);
    const around = running && { ...running, context: ownerOf(running, start, end) };
    const isOfAnother = around?.context !== running?.context;
    const samples = this.samples.within(start, end);
    const part = { start, end, startEpoch: this.clock.epoch(start), samples, isPileUp };
    const candidatesIn = (own?: Attributed) =>
      this.votes.candidates(start, end, samples, own, ownerOf);
    // Rules 1 to 3.
    const isOwn = around !== undefined && isOwner(around.context);
    const candidates = candidatesIn(isOwn ? around : undefined);
    const entered = isOwn && !isOfAnother ? this.#enteredIn(part, around) : around;
    const found = isOwn ? entered : longestOf(candidates, part);
    if (found === undefined) return { attributed: around, ran: runsOf(candidates), samples };
    const by = { context: found.context, resourceType: (around ?? found).resourceType };
    const isOneCallback = around !== undefined;
    const attributed = this.#openInAll(part, by, isOneCallback, isOwn) ?? around;
    // Time without votes inside one callback is that of the span that ran longest in it.
    const ran = isOneCallback && !isOwn ? candidatesIn(by) : candidates;
    return { attributed, ran: runsOf(ran), samples };
  }

  /** Finds the owner as spans are now; times are those of the clock. */
  owners(busySince: number): OwnerOf {
    const { spans, clock } = this;
    const owners = new Owners(clock.epoch(busySince), spans);
    return (by, start, end) => owners.of(by, clock.epoch(start), clock.epoch(end));
  }

  /** Rules 4 and 5: `by`, or what is taken instead of it, or undefined if nothing is. */
  #openInAll(
    part: Part,
    by: Attributed,
    isOneCallback: boolean,
    isOwn: boolean,
  ): Attributed | undefined {
    const span = trace.getSpan(by.context);
    const isSuppressed = isTracingSuppressed(by.context);
    if (!isSuppressed && this.#hadEnded(span, part)) {
      const covering = this.#around(by, part);
      if (covering !== undefined || isOneCallback) return covering ?? by;
      return this.#wasOpenForMost(span, part, this.#endOf(span, part)) ? by : undefined;
    }
    if (isOwn || !this.#isLate(span, part) || this.#wasOpenForMost(span, part, part.end)) return by;
    return isSuppressed ? undefined : this.#around(by, part);
  }

  /**
   * The span that all stack samples found inside of a scope or callback that no scope voted in. It
   * was entered without the context manager's `with`.
   */
  #enteredIn(part: Part, around: Attributed): Attributed {
    const { start, end, samples } = part;
    const context = samples[0]?.context;
    const span = context && trace.getSpan(context);
    if (context === undefined || span === undefined) return around;
    const isEntered =
      samples.every((s) => trace.getSpan(s.context) === span && !isTracingSuppressed(s.context)) &&
      !this.votes.hasVotesIn(start, end) &&
      !this.#isLate(span, part);
    return isEntered ? { ...around, context } : around;
  }

  /** The innermost span around that of `by` that was open for all of the part. */
  #around({ context, resourceType }: Attributed, part: Part): Attributed | undefined {
    let span = trace.getSpan(context);
    for (let depth = 0; span !== undefined && depth < MAX_DEPTH; depth++) {
      span = this.spans.parentOf(span, context);
      if (span === undefined) break;
      if (!this.#isLate(span, part) && !(this.#endOf(span, part) < part.end - allowed(part))) {
        return { context: trace.setSpan(context, span), resourceType };
      }
    }
    return undefined;
  }

  /** Whether a span had ended when code of others ran for a while. */
  #hadEnded(span: Span | undefined, part: Part): boolean {
    const ended = this.#endOf(span, part);
    if (span === undefined || !(ended < part.end - allowed(part))) return false;
    const sampled = part.samples
      .filter(({ time, context }) => time >= ended && trace.getSpan(context) !== span)
      .reduce((sum, { weight }) => sum + weight, 0);
    return Math.max(sampled, this.votes.othersIn(span, ended, part.end)) > allowed(part);
  }

  /** Whether a span began after the part did. */
  #isLate(span: Span | undefined, part: Part): boolean {
    return this.#startOf(span, part) > part.start + allowed(part);
  }

  #wasOpenForMost(span: Span | undefined, part: Part, ended: number): boolean {
    const open = ended - Math.max(part.start, this.#startOf(span, part) || part.start);
    return open >= Math.max(this.thresholdMillis, (part.end - part.start) * MIN_OPEN_SHARE);
  }

  /** When a span started, a time of the clock; NaN if that is not known. */
  #startOf(span: Span | undefined, { start, startEpoch }: Part): number {
    return span === undefined ? Number.NaN : start + this.spans.startOf(span) - startEpoch;
  }

  /** When a span ended, a time of the clock; NaN if it is open, or if that is not known. */
  #endOf(span: Span | undefined, { start, startEpoch }: Part): number {
    return span === undefined ? Number.NaN : start + this.spans.endOf(span) - startEpoch;
  }
}

/** Whether a context alone says whose time it is: a span's, an exporter's, or expected code's. */
function isOwner(context: Context): boolean {
  return (
    trace.getSpan(context) !== undefined || isTracingSuppressed(context) || expectsBlocks(context)
  );
}

/** The candidate that ran longest, of those whose trace ran for at least half of the part. */
function longestOf(candidates: readonly Candidate[], part: Part): Candidate | undefined {
  const { start, end } = part;
  const traces = new Map<unknown, Candidate[]>();
  for (const c of candidates) {
    const key = c.suppressed ? c : (c.span?.spanContext().traceId ?? c);
    const same = traces.get(key);
    if (same === undefined) traces.set(key, [c]);
    else same.push(c);
  }
  const all = [...traces.values()];
  const millisOf = (of: readonly Candidate[]) => of.reduce((sum, { millis }) => sum + millis, 0);
  const minimum = (end - start) * MIN_TRACE_SHARE;
  return all
    .filter((of) => millisOf(of) >= minimum && !(part.isPileUp && isByChance(of, start, end)))
    .flat()
    .reduce<Candidate | undefined>(
      (longest, c) => (longest !== undefined && longest.millis >= c.millis ? longest : c),
      undefined,
    );
}

/**
 * Whether a trace of a pile-up has its time from one stack sample: that has found one of many
 * callbacks.
 */
function isByChance(one: readonly Candidate[], start: number, end: number): boolean {
  const voted = one.reduce((sum, each) => sum + each.voted, 0);
  const samples = one.reduce((sum, each) => sum + each.samples, 0);
  return samples === 1 && voted < (end - start) * MIN_TRACE_SHARE;
}

/** A span may start or end by this many milliseconds inside of its part. */
function allowed({ start, end }: Part): number {
  return Math.max(MAX_UNCOVERED_MILLIS, (end - start) * MAX_UNCOVERED_SHARE);
}
