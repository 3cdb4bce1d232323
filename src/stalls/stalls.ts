/**
 * Where blocks and spans meet: the active instrumentation brings the blocks, span processors bring
 * the spans. Whichever copy of the package either of them came from, those of one thread share one
 * object.
 */
import {
  type Attributes,
  type Context,
  type HrTime,
  type Span,
  SpanKind,
  trace,
} from '@opentelemetry/api';
import type { Run } from '../block.ts';
import { hrTimeToMillis } from '../otel/hr-time.ts';
import { type NamedSpan, type Operation, operationOf } from '../otel/operation.ts';
import { perThread } from '../support/per-thread.ts';
import { PACKAGE_NAME } from '../version.ts';
import { isBlockSpan, lineOf, type OpenSpans, parentOf } from './open-spans.ts';
import { type BlockEnd, Queue, type Queued, queuedBy, type SpanBegin } from './queue.ts';
import { type BlockSpan, RecentBlocks, type Stall } from './recent-blocks.ts';
import { hasRequestSubscribers, requestReport } from './request-channel.ts';
import { receivedAt } from './request-start.ts';
import { type BlockTime, type SpanTime, spanTimeOf, stallBeside, stallIn } from './span-time.ts';
import {
  byFunction,
  type FunctionWait,
  type NamedBlock,
  StallCause,
  StalledRequests,
  type Wait,
} from './stalled-requests.ts';

/** Time in which the event loop was blocked. Unix times in milliseconds. */
export interface BlockedPeriod {
  readonly start: number;
  readonly end: number;
  /** The context that the block is attributed to. */
  readonly context: Context | undefined;
  /** What ran in it. */
  readonly ran?: readonly Run[] | undefined;
  /** As that of a {@link RecentBlock}. */
  readonly callbackStart?: number | undefined;
  /** Where iterations are counted. */
  readonly loopEnd?: BlockEnd | undefined;
}

/** What one span ran of a pile-up that has not ended. Unix times in milliseconds. */
export interface SpanShare {
  readonly start: number;
  readonly end: number;
  /** Milliseconds that the span, and those inside it, ran in it. */
  readonly share: number;
}

/** What blocks the event loop now, and what has blocked it and waits to be reported. */
export interface OngoingView {
  /**
   * The pile-up that is under way, where it has reached the threshold, or what matters of it for a
   * span. Hot: all of it is the same object as long as what is known of it is the same.
   */
  ongoingPileUp(span?: Span): BlockedPeriod | SpanShare | undefined;
  /** Reports the blocks that have ended and wait to be reported. */
  reportPending?(): void;
  /** As reportPending, but does not wait for source maps. */
  reportEnded?(): void;
  /** Asked for when a span starts soon after a block. */
  spanBegin?(): SpanBegin;
}

/** For the metrics. An entry span is of the kind SERVER or CONSUMER. */
export interface EntrySpanSink {
  /** One has ended, stalled or not. */
  ended(stallMillis: number): void;
  /**
   * One that was stalled has ended, and the functions of the blocks are known as far as they will
   * be. Must not throw.
   * @param waits add up to its `stallMillis`
   */
  stalled(waits: readonly FunctionWait[], operation: Operation): void;
}

/** A span of the SDK. */
export interface TimedSpan {
  readonly kind: SpanKind;
  readonly startTime: HrTime;
  readonly endTime: HrTime;
}

/** The spans that were open when a block ended. */
export interface SpansAround {
  /** Ids of the span that the block is attributed to and of those around it. */
  readonly blockingSpanIds: ReadonlySet<string>;
  /** Milliseconds that other spans, and those around them, ran in it, by their ids. */
  readonly ranMillis: ReadonlyMap<string, number> | undefined;
  /** How many other spans had not ended, and were stalled. */
  readonly stalledSpans: number;
}

/** Contexts that ran in a block, the heaviest: the spans around each of them are found. */
const MAX_RUNS = 32;

/** The block of a pile-up is known when its iteration is over, in the next one. */
const MAX_ITERATIONS_TO_BLOCK = 1;
/** Pile-ups without a block. An iteration has one after each part that was reported by itself. */
const MAX_PILE_UPS = 64;

/** A pile-up that had not ended when entry spans did that it had stalled. */
interface StallingPileUp {
  readonly start: number;
  end: number;
  readonly iteration: number;
  readonly cause: StallCause;
}

export class Stalls {
  /** Of the active instrumentation. */
  ongoing: OngoingView | undefined;
  /** Of the active instrumentation. */
  entrySpanSink: EntrySpanSink | undefined;
  /** Of ongoing pile-ups: the same for all spans that end in one. */
  readonly #pileUpTimes = new WeakMap<BlockedPeriod, BlockTime>();
  readonly #blocks = new RecentBlocks();
  readonly #queue = new Queue();
  /** Of spans that have not ended. */
  readonly #queued = new WeakMap<Span, Queued>();
  #queuedSpans = 0;
  readonly #stalled = new StalledRequests();
  #pileUps: StallingPileUp[] = [];
  /** Weakly: a processor whose provider is dropped without a shutdown goes with it. */
  readonly #openSpans = new Set<WeakRef<OpenSpans>>();

  /** A processor has come. */
  watch(openSpans: OpenSpans): void {
    this.#openSpans.add(new WeakRef(openSpans));
  }

  /** A processor was shut down. */
  unwatch(openSpans: OpenSpans): void {
    for (const known of this.#openSpans)
      if (known.deref() === openSpans) this.#openSpans.delete(known);
  }

  /** Of a block that has just ended; undefined where there is no processor. */
  spansAround(period: BlockedPeriod): SpansAround | undefined {
    const watched = this.#watched();
    if (watched.length === 0) return undefined;
    const { start, end, callbackStart } = period;
    const { spans, blockingSpanIds, ranMillis } = ranIn(period);
    const block = { start, end, callbackStart, blockingSpanIds, ranMillis };
    let stalledSpans = 0;
    for (const openSpans of watched) {
      // Two processors of one provider are given the same spans.
      stalledSpans = Math.max(stalledSpans, openSpans.countStalled(block, spans));
    }
    return { blockingSpanIds, ranMillis, stalledSpans };
  }

  /** From now on spans that end may be found to have waited for this block. */
  add(
    { start, end, callbackStart, loopEnd }: BlockedPeriod,
    { blockingSpanIds, ranMillis }: SpansAround,
    span: BlockSpan | undefined,
  ): void {
    const cause = new StallCause();
    const block = { start, end, callbackStart, blockingSpanIds, ranMillis, span, cause };
    this.#blocks.add(block);
    const causes = [
      cause,
      ...this.#takePileUps((pileUp) => pileUp.start < end && pileUp.end > start),
    ];
    const name = (reported: NamedBlock) => {
      for (const each of causes) each.name(reported);
    };
    if (span?.onReported === undefined) name({});
    else span.onReported(name);
    if (loopEnd !== undefined) this.#queue.add(block, loopEnd);
  }

  /** Whether there is a processor. */
  get isWatched(): boolean {
    return this.#watched().length > 0;
  }

  /** Hot. A span starts: right after a block, it may have waited for that before. */
  started(span: Span & { readonly kind?: SpanKind }, parentContext: Context): void {
    if (this.#queue.isEmpty) return;
    // Two processors of one provider are given the same spans.
    if (!isEntrySpan(span, parentContext) || this.#queued.has(span)) return;
    const begin = this.ongoing?.spanBegin?.();
    if (begin === undefined) return;
    const received = receivedAt((span as { attributes?: Attributes }).attributes);
    const before = this.#queue.blocksBefore(begin);
    const blocks = received === undefined ? before : before.filter(({ end }) => received < end);
    const queued = queuedBy(blocks, received);
    if (queued === undefined) return;
    for (const { span: blockSpan } of blocks) blockSpan?.addQueued?.();
    this.#queued.set(span, queued);
    this.#queuedSpans++;
  }

  /** Hot: how long a span that ends may have waited before it began. Once for each span. */
  queuedOf(span: Span): Queued | undefined {
    if (this.#queuedSpans === 0) return undefined;
    const queued = this.#queued.get(span);
    if (queued === undefined) return undefined;
    this.#queued.delete(span);
    this.#queuedSpans--;
    return queued;
  }

  /** Hot: how long a span that ends was stalled; undefined where it surely was not. */
  stallOf(span: Span & TimedSpan): Stall | undefined {
    const pileUp = this.ongoing?.ongoingPileUp(span);
    const start = hrTimeToMillis(span.startTime);
    if (pileUp === undefined && !this.#blocks.endedAfter(start)) return undefined;
    const time = spanTimeOf(span, start, hrTimeToMillis(span.endTime));
    const waits: Wait[] | undefined = isEntryKind(span) ? [] : undefined;
    const stall = this.#blocks.stallOf(time, waits);
    if (pileUp === undefined) return stall;
    const more = this.#stallInPileUp(pileUp, time);
    if (more === 0) return stall;
    waits?.push({ cause: this.#causeOf(pileUp), millis: more });
    return {
      ...stall,
      millis: stall.millis + more,
      // A pile-up that has not ended has no span that a link could lead to.
      ...(more > stall.longestMillis && { longest: undefined, longestMillis: more }),
    };
  }

  /**
   * An entry span has ended. May throw: the host's meter may.
   * @param stall of {@link stallOf}
   */
  ended(span: Span & TimedSpan & NamedSpan, stall: Stall | undefined): void {
    const sink = this.entrySpanSink;
    const waits = stall?.waits ?? [];
    if (waits.length > 0 || hasRequestSubscribers()) {
      const operation = operationOf(span);
      const report = requestReport(span, operation, stall?.millis ?? 0, waits);
      this.#stalled.add(waits, () => {
        if (waits.length > 0) sink?.stalled(byFunction(waits), operation);
        report();
      });
    }
    if (this.#pileUps.length > 0) this.#nameLateCauses();
    sink?.ended(stall?.millis ?? 0);
  }

  /** No further blocks come: what pile-ups stalled is not known to be of any function. */
  nameCauses(): void {
    for (const cause of this.#takePileUps(() => true)) cause.name({});
  }

  /** Pile-ups that were no block after all: the process was suspended, for one. */
  #nameLateCauses(): void {
    const iteration = this.ongoing?.spanBegin?.().iteration ?? Number.NaN;
    const isLate = (pileUp: StallingPileUp) =>
      iteration - pileUp.iteration > MAX_ITERATIONS_TO_BLOCK;
    for (const cause of this.#takePileUps(isLate)) cause.name({});
  }

  /** The span of this process around a span, where a processor knows either. */
  parentOf(span: Span): Span | undefined {
    const parent = parentOf(span);
    return parent?.spanContext().isRemote === true ? undefined : parent;
  }

  #stallInPileUp(pileUp: BlockedPeriod | SpanShare, span: SpanTime): number {
    if ('share' in pileUp) return stallBeside(pileUp.start, pileUp.end, pileUp.share, span);
    let time = this.#pileUpTimes.get(pileUp);
    if (time === undefined) {
      const { blockingSpanIds, ranMillis } = ranIn(pileUp);
      time = { start: pileUp.start, end: pileUp.end, blockingSpanIds, ranMillis };
      this.#pileUpTimes.set(pileUp, time);
    }
    return stallIn(time, span);
  }

  /** The block of the pile-up, which comes when its iteration is over. */
  #causeOf({ start, end }: Pick<BlockedPeriod, 'start' | 'end'>): StallCause {
    const known = this.#pileUps.find((pileUp) => pileUp.start === start);
    if (known !== undefined) {
      known.end = end;
      return known.cause;
    }
    if (this.#pileUps.length === MAX_PILE_UPS) this.#pileUps.shift()?.cause.name({});
    const iteration = this.ongoing?.spanBegin?.().iteration ?? Number.NaN;
    const cause = new StallCause();
    this.#pileUps.push({ start, end, iteration, cause });
    return cause;
  }

  #takePileUps(isTaken: (pileUp: StallingPileUp) => boolean): StallCause[] {
    if (this.#pileUps.length === 0) return [];
    const taken = this.#pileUps.filter(isTaken);
    this.#pileUps = this.#pileUps.filter((pileUp) => !taken.includes(pileUp));
    return taken.map(({ cause }) => cause);
  }

  #watched(): OpenSpans[] {
    const watched: OpenSpans[] = [];
    for (const reference of this.#openSpans) {
      const openSpans = reference.deref();
      if (openSpans === undefined) this.#openSpans.delete(reference);
      else watched.push(openSpans);
    }
    return watched;
  }
}

/** The span that a block is attributed to, those that ran in it, and those around each of them. */
function ranIn({ context, ran = [] }: BlockedPeriod) {
  const spans = new Set(lineOf(context && trace.getSpan(context)));
  const blockingSpanIds = new Set(Array.from(spans, idOf));
  const ranMillis = new Map<string, number>();
  const heaviest = [...ran].sort((a, b) => b.millis - a.millis).slice(0, MAX_RUNS);
  for (const { context: each, millis } of heaviest) {
    const span = trace.getSpan(each);
    if (span === undefined || blockingSpanIds.has(idOf(span))) continue;
    // What a span's children ran, it did not wait for either.
    for (const around of lineOf(span)) {
      spans.add(around);
      ranMillis.set(idOf(around), (ranMillis.get(idOf(around)) ?? 0) + millis);
    }
  }
  return { spans, blockingSpanIds, ranMillis: ranMillis.size === 0 ? undefined : ranMillis };
}

export function isEntryKind({ kind }: { readonly kind?: SpanKind }): boolean {
  return kind === SpanKind.SERVER || kind === SpanKind.CONSUMER;
}

const idOf = (span: Span) => span.spanContext().spanId;

/** A request, a message, or what else begins without a span of this process around it. */
function isEntrySpan(span: Span & { readonly kind?: SpanKind }, parentContext: Context): boolean {
  if (isBlockSpan(span)) return false;
  if (isEntryKind(span)) return true;
  const parent = trace.getSpanContext(parentContext);
  return parent === undefined || parent.isRemote === true;
}

const KEY = Symbol.for(`${PACKAGE_NAME}.stalls.v1`);

/** Those of this thread. */
export function stallsOfThread(): Stalls {
  return perThread(KEY, () => new Stalls());
}
