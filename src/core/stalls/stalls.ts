/**
 * Blocks and spans are compared here: the active session brings the blocks, span processors bring
 * the spans. Whichever copy of the package either of them came from, those of one thread share one
 * object. Times of spans are Unix times, and so are those of blocks from here on.
 */
import { executionAsyncId } from 'node:async_hooks';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { type Context, type HrTime, type Span, SpanKind, trace } from '@opentelemetry/api';
import type { Block, OngoingPileUp } from '../../block.ts';
import { requests as requestChannel } from '../../channels.ts';
import { madeByIn } from '../../otel/context-marks.ts';
import { entryOf, isEntryKind } from '../../otel/entry-span.ts';
import { hrTimeToMillis } from '../../otel/hr-time.ts';
import { graphqlOperationOf, type NamedSpan, operationOf } from '../../otel/operation.ts';
import {
  clockStepOf,
  spanEndTime,
  spanStartedAt,
  spanStartTime,
} from '../../otel/sdk-internals.ts';
import { type Clock, canCountIterations } from '../../support/clock.ts';
import { copies, perThread } from '../../support/copies.ts';
import { LISTEN_CHANNEL } from '../../support/launches.ts';
import { dateNow, now } from '../../support/time.ts';
import type { EventLoopBlock } from '../../types.ts';
import { traceIdOf } from '../emit/attributed-request.ts';
import type { Instruments } from '../emit/instruments.ts';
import { keyOf } from '../explain/name/key.ts';
import { resourceTypeOf, runningResource } from '../record/hooks/resource-classes.ts';
import type { Call } from '../record/running-code.ts';
import { Askers } from './askers.ts';
import { callOf, type SomeSpan } from './calls.ts';
import { EndedRequests } from './ended-requests.ts';
import type { FunctionSums, Wait } from './function-sums.ts';
import { lineOf, OpenSpans, parentOf } from './open-spans.ts';
import { type BlockEnd, type LoopMoment, Queue, type Queued, queuedBy } from './queue.ts';
import {
  type BlockWaits,
  NO_WAITS,
  type RecentBlock,
  RecentBlocks,
  type ReportedSpan,
  type Stall,
} from './recent-blocks.ts';
import { type BlockTime, spanTimeOf, stallIn } from './span-time.ts';

/** Contexts that ran in a block, the heaviest: the spans around each of them are found. */
const MAX_RUNS = 32;
/** The block of a pile-up is known when its iteration is over, in the next one. */
const MAX_ITERATIONS_TO_BLOCK = 1;

/** The active session, as far as stalls ask it. */
export interface StallSession {
  readonly clock: Pick<Clock, 'epoch' | 'loopCount' | 'waited'>;
  /**
   * The pile-up that is under way, if it has reached the threshold. Hot: the same object as long as
   * what is known of it is the same.
   */
  ongoingPileUp(): OngoingPileUp | undefined;
  /** Whether it reached the threshold by a suspension of the process only; takes 100 µs. */
  isSuspended(pileUp: OngoingPileUp): boolean;
  /** When the running task began; NaN if that is not known. */
  taskStart(): number;
  /** Hot. Whether what runs is surely no block, nor its end. */
  isSurelyShort(): boolean;
  /** Resources that were made since the running iteration began have larger async ids. */
  tickId(): number;
  /** Reports the blocks that have ended; some wait for source maps. */
  report(): Promise<void>;
  settle(): void;
  /** An entry span has ended, stalled or not. May throw: the host's meter may. */
  stalled(millis: number): void;
  /**
   * What an entry span was stalled, by function, as far as functions will be known. Must not throw.
   * @param waits add up to the time for which it was stalled
   */
  caused: Instruments['stallCaused'];
}

/** More end in one iteration only if many are short. */
const MAX_ENDED_CALLS = 32;
/** Open spans among which calls are looked for; each takes some 100 ns. */
const MAX_OPEN_CALLS = 500;

export type EndedSpan = Span &
  NamedSpan & { readonly kind: SpanKind; readonly startTime: HrTime; readonly endTime: HrTime };

/** {@link Stall.millis} are with those of a pile-up that had not ended. */
export interface SpanStall extends Stall {
  readonly pileUp?: { readonly start: number; readonly end: number; readonly millis: number };
}

export class Stalls {
  #session: StallSession | undefined;
  /**
   * Unix time of the monotonic clock's 0 when the first session began. Spans and blocks are
   * compared by it, whatever steps the wall clock has made since.
   */
  #zero = Number.NaN;
  #processors = 0;
  #endedCalls: SomeSpan[] = [];
  readonly #open = new OpenSpans(
    (span) => this.#startOf(span),
    () => dateNow() - this.#drift(),
  );
  readonly #blocks = new RecentBlocks();
  readonly #queue = new Queue();
  readonly #askers = new Askers();
  readonly #requests = new EndedRequests(this.#blocks);
  /** The same for all spans that end in a pile-up that has not ended. */
  readonly #pileUpTimes = new WeakMap<OngoingPileUp, BlockTime | undefined>();

  get session(): StallSession | undefined {
    return this.#session;
  }

  start(session: StallSession): void {
    this.#session = session;
    if (Number.isNaN(this.#zero)) this.#zero = session.clock.epoch(0);
    subscribe(LISTEN_CHANNEL, this.#onListening);
  }

  /** Does nothing if another session has taken its place. */
  stop(session: StallSession): void {
    if (this.#session !== session) return;
    this.report(true);
    this.#session = undefined;
    unsubscribe(LISTEN_CHANNEL, this.#onListening);
  }

  readonly #onListening = (): void => this.#queue.listens(this.#zero + now());

  watch(): void {
    this.#processors++;
    copies().areRequestsKnown = true;
  }

  unwatch(): void {
    this.#processors = Math.max(0, this.#processors - 1);
    if (this.#processors > 0) return;
    this.#open.clear();
    this.#endedCalls = [];
  }

  get isWatched(): boolean {
    return this.#processors > 0;
  }

  /**
   * A block has just ended.
   * @returns how many other spans were open, and stalled, if that is known; and `add`, to be called
   * if the block is going to be reported. Undefined if nobody tells of spans.
   */
  spansAt(block: Block) {
    if (!this.isWatched) return undefined;
    // Promise reactions without a stack sample: which spans blocked and which were stalled is not
    // known.
    const isUnknown = block.kind === 'microtasks' && block.context === undefined;
    // Nor are they in what a pooled connection or a worker has received: one of them asked for it.
    const isAnswer = madeByIn(block.context) !== undefined && block.resourceType !== 'Timeout';
    const { spans, time } = this.#ranIn(block, isOpen);
    const recent = (span: RecentBlock['span']) => ({ ...time, span, named: undefined });
    if (isUnknown || isAnswer)
      return {
        stalledSpans: undefined,
        add: (span: ReportedSpan) => this.#addToQueue(block, recent(span)),
      };
    return {
      stalledSpans: this.#open.countStalled(time, spans),
      add: (span: ReportedSpan) => {
        const added = recent(span);
        this.#addToBlocks(block, added);
        this.#addToQueue(block, added);
      },
    };
  }

  /** Hot. A span starts: right after a block, it may have waited for that before. */
  started(span: SomeSpan, parentContext: Context): void {
    const isNew = this.#open.add(span, parentContext);
    this.#askers.saw(trace.getSpan(parentContext));
    if (this.#queue.isEmpty || !isNew || !isEntrySpan(span, parentContext)) return;
    const session = this.#session;
    if (session === undefined) return;
    const beganAt = this.#startOf(span) ?? Number.NaN;
    const before = this.#queue.before({
      ...this.#momentOf(session.clock),
      beganAt,
      taskStart: session.taskStart(),
      asyncId: connectionId(),
    });
    const queued = queuedBy(before, beganAt);
    if (queued === undefined) return;
    for (const { block } of before.blocks) block.span?.addQueued();
    this.#open.setQueued(span, queued);
  }

  /** Hot. A request begins. */
  begin(): void {
    this.#queue.arrivals.begin();
  }

  /** Hot. A span ends: how long it may have waited before it began. Once for each span. */
  ending(span: SomeSpan): Queued | undefined {
    // To keep spans of short iterations costs all spans 80 to 110 ns, in garbage collections.
    if (span.kind === SpanKind.CLIENT && this.#session?.isSurelyShort() === false) {
      this.#endedCalls.push(span);
      if (this.#endedCalls.length > MAX_ENDED_CALLS) this.#endedCalls.shift();
    }
    this.#askers.saw(span);
    const operation = graphqlOperationOf(span);
    if (operation !== undefined) this.#open.setOperation(span, operation);
    return this.#open.remove(span);
  }

  /** Calls to that port: the latest that are open, and that have ended. */
  callsTo(port: number): Call[] {
    const spans = [...this.#open.latest(MAX_OPEN_CALLS), ...this.#endedCalls];
    return spans.flatMap((span) => callOf(span, port));
  }

  /** Hot: how long a span that ends was stalled; undefined if it surely was not. */
  stallOf(span: EndedSpan): SpanStall | undefined {
    const ongoing = this.#session?.ongoingPileUp();
    const pileUp = ongoing && this.#pileUpTime(ongoing);
    const start = this.#startOf(span) ?? Number.NEGATIVE_INFINITY;
    if (pileUp === undefined && !this.#blocks.endedAfter(start)) return undefined;
    const time = spanTimeOf(span, start, this.#timeOf(span, span.endTime));
    const stall = this.#blocks.stallOf(time);
    if (pileUp === undefined) return stall;
    const more = stallIn(pileUp, time);
    if (more === 0) return stall;
    return {
      ...stall,
      millis: stall.millis + more,
      pileUp: { start: pileUp.start, end: pileUp.end, millis: more },
      // A pile-up that has not ended has no span that a link could lead to.
      ...(more > stall.longestMillis && { longest: undefined, longestMillis: more }),
    };
  }

  /**
   * An entry span has ended. May throw: the host's meter may.
   * @param stall of {@link stallOf}
   * @param queued of {@link ending}
   */
  ended(span: EndedSpan, stall: SpanStall | undefined, queued: Queued | undefined): void {
    const stalledMillis = stall?.millis ?? 0;
    if (stalledMillis > 0 || queued !== undefined || requestChannel.hasSubscribers)
      this.#addRequest(span, stall, queued);
    this.#session?.stalled(stalledMillis);
  }

  /** Hot. Whether a request that begins now may have waited for a block. */
  get mayHaveQueued(): boolean {
    return !this.#queue.isEmpty;
  }

  get hasRequests(): boolean {
    return !this.#requests.isEmpty;
  }

  /** See {@link EndedRequests.report}. */
  report(isLast = false, until?: number): boolean {
    return this.#requests.report(isLast, until);
  }

  /** The span of this process around a span, if a processor knows either. */
  parentOf(span: Span): Span | undefined {
    const parent = parentOf(span);
    return parent?.spanContext().isRemote === true ? undefined : parent;
  }

  #addToBlocks(block: Block, recent: RecentBlock): void {
    const add = () => {
      const number = this.#blocks.add(recent);
      if (recent.named !== undefined) this.#blocks.reported(number);
      else recent.span?.onReported(() => this.#blocks.reported(number));
    };
    // When a pile-up is known, what drains after it is over.
    const isOfOne = block.kind === 'callback' || block.kind === 'microtasks';
    if (isOfOne && !isInRequest(block)) {
      this.#askers.after((ids) => {
        const blockingSpanIds = new Set([...recent.blockingSpanIds, ...ids]);
        Object.assign(recent, { blockingSpanIds });
        add();
      });
    } else add();
  }

  /** A request that begins after a block has surely waited for it, whoever has asked for that. */
  #addToQueue(block: Block, recent: RecentBlock): void {
    recent.span?.onReported((facts) => {
      recent.named = namedBlock(facts);
    });
    if (canCountIterations) this.#queue.add(recent, this.#endOf(block));
  }

  /** A block is known when it has ended, or when the next iteration has begun. */
  #endOf({ kind, end, waitedSince }: Block): BlockEnd {
    const now = this.#momentOf(this.#session?.clock);
    const isOver = waitedSince !== undefined || kind === undefined;
    return {
      end,
      iteration: now.iteration - (isOver ? 1 : 0),
      idle: now.idle - (waitedSince ?? 0),
      asyncId: this.#session?.tickId() ?? Number.NaN,
    };
  }

  #momentOf(clock: StallSession['clock'] | undefined): LoopMoment {
    return {
      iteration: clock?.loopCount() ?? Number.NaN,
      idle: clock?.waited() ?? Number.NaN,
    };
  }

  /** Reads what is needed of the span, which is not kept. */
  #addRequest(span: EndedSpan, stall: SpanStall | undefined, queued: Queued | undefined): void {
    const session = this.#session;
    const operation = operationOf(span, undefined, this.#open.operationOf(span));
    const startTimeMillis = hrTimeToMillis(span.startTime);
    const durationMillis = hrTimeToMillis(span.endTime) - startTimeMillis;
    const traceId = traceIdOf(span);
    const iteration = session?.clock.loopCount() ?? Number.NaN;
    const { waits = NO_WAITS, millis: stalledMillis = 0, pileUp } = stall ?? {};
    const ofPileUp: Wait[] = pileUp ? [{ block: undefined, millis: pileUp.millis }] : [];
    const others = (): Wait[] => [
      ...(queued?.waits().map((wait) => ({ ...wait, isQueued: true as const })) ?? []),
      ...ofPileUp,
    ];
    const report = (sums: FunctionSums, ofBlocks: BlockWaits) => {
      const more = others();
      const functions = sums.functionsOf(ofBlocks, more, stalledMillis);
      if (functions.length > 0) session?.caused(functions, operation);
      if (!requestChannel.hasSubscribers) return;
      requestChannel.publish({
        route: operation.name ?? '',
        traceId,
        startTimeMillis,
        durationMillis,
        stalledMillis,
        queuedMillis: functions.reduce((sum, { queuedMillis }) => sum + queuedMillis, 0),
        functions,
        waits: () => sums.waitsOf(ofBlocks, more),
      });
    };
    const isKnown = () => {
      for (const wait of ofPileUp) wait.block ??= pileUp && this.#blocks.within(pileUp);
      const now = this.#momentOf(this.#session?.clock);
      if (queued !== undefined && !this.#queue.isOver(now)) return false;
      if (!this.#blocks.areNamed(waits)) return false;
      // A pile-up may be no block after all: the process was suspended, for one.
      const isOver = now.iteration - iteration > MAX_ITERATIONS_TO_BLOCK;
      return others().every(({ block }) => (block ? block.named !== undefined : isOver));
    };
    const request = { waits, isKnown, report };
    if (stalledMillis === 0 && queued === undefined) this.#requests.reportNow(request);
    else this.#requests.add(request);
  }

  /** Undefined if it stalls no span: one of them asked for it, or the process was suspended. */
  #pileUpTime(pileUp: OngoingPileUp): BlockTime | undefined {
    if (!this.#pileUpTimes.has(pileUp)) {
      const stallsNone =
        madeByIn(pileUp.context) !== undefined || this.#session?.isSuspended(pileUp) === true;
      this.#pileUpTimes.set(pileUp, stallsNone ? undefined : this.#ranIn(pileUp).time);
    }
    return this.#pileUpTimes.get(pileUp);
  }

  /**
   * The span that a block is attributed to, those that ran in it, and those around them.
   * @param isWanted whether a span is to be among them
   */
  #ranIn(
    block: OngoingPileUp & Partial<Block>,
    isWanted: (span: Span) => boolean = () => true,
  ): { spans: Set<Span>; time: BlockTime } {
    const { start, end, context, ran = [], kind } = block;
    const spans = new Set(lineOf(spanOf({ context })).filter(isWanted));
    const blockingSpanIds = new Set(Array.from(spans, idOf));
    const ranMillis = new Map<string, number>();
    const heaviest = [...ran].sort((a, b) => b.millis - a.millis).slice(0, MAX_RUNS);
    for (const { context: each, millis } of heaviest) {
      const span = trace.getSpan(each);
      if (span === undefined || blockingSpanIds.has(idOf(span))) continue;
      // A span does not wait for its children either.
      for (const around of lineOf(span).filter(isWanted)) {
        spans.add(around);
        ranMillis.set(idOf(around), (ranMillis.get(idOf(around)) ?? 0) + millis);
      }
    }
    const time: BlockTime = {
      start: this.#zero + start,
      end: this.#zero + end,
      blockingSpanIds,
      ranMillis: ranMillis.size === 0 ? undefined : ranMillis,
      callbackStart: kind === 'callback' ? start : undefined,
    };
    return { spans, time };
  }

  /**
   * Hot: twice for each span. When it started, by {@link #zero}: what the SDK has read of the same
   * clock, unless the start was given.
   */
  #startOf(span: Span): number | undefined {
    const startedAt = this.#session === undefined ? undefined : spanStartedAt(span);
    if (startedAt !== undefined) return this.#zero + startedAt;
    const time = spanStartTime(span);
    return time && this.#timeOf(span, time);
  }

  /** A time of a span, by {@link #zero}. */
  #timeOf(span: Span, time: HrTime): number {
    const clock = this.#session?.clock;
    const step = clock === undefined ? 0 : clockStepOf(span, clock);
    return hrTimeToMillis(time) + step - this.#drift();
  }

  /** By how much Unix time has been stepped since {@link #zero}. */
  #drift(): number {
    const clock = this.#session?.clock;
    return clock === undefined ? 0 : clock.epoch(0) - this.#zero;
  }
}

/**
 * Async id of the HTTP/1.1 connection that is read; 0 for what does not run as it is read. A stream
 * of HTTP/2 begins in a nextTick, which is new whatever its connection is.
 */
function connectionId(): number {
  return resourceTypeOf(runningResource()) === 'HTTPINCOMINGMESSAGE' ? executionAsyncId() : 0;
}

/** A request, a message, or what else begins without a span of this process around it. */
function isEntrySpan(span: Span & { readonly kind?: SpanKind }, parentContext: Context): boolean {
  if (isEntryKind(span)) return true;
  const parent = trace.getSpanContext(parentContext);
  return parent === undefined || parent.isRemote === true;
}

/** Without the stack trace: the latest blocks are remembered. */
function namedBlock({ startTimeMillis, code }: EventLoopBlock) {
  if (code === undefined) return { startTimeMillis };
  const { stackTrace: _, requires: __, ...place } = code;
  return { startTimeMillis, code: place, key: keyOf(code) };
}

/** Blocks are remembered for long, and a span that has ended is compared with none of them. */
const isOpen = (span: Span) => spanEndTime(span) === undefined;

const spanOf = ({ context }: Pick<Block, 'context'>) => context && trace.getSpan(context);

/** False for a message: a request may have sent it, and await what it does. */
function isInRequest(block: Block): boolean {
  const span = spanOf(block);
  if (span === undefined || block.context === undefined) return false;
  return entryOf(span, block.context).entry?.kind !== SpanKind.CONSUMER;
}

const idOf = (span: Span) => span.spanContext().spanId;

/** Those of this thread. */
export function stallsOfThread(): Stalls {
  return perThread('stalls.v1', () => new Stalls());
}
