/**
 * Brings the blocks of one instrumentation to the stalls of its thread, while it is active. The
 * only place where times of the clock become the Unix times that spans have.
 */
import { AsyncResource, executionAsyncId } from 'node:async_hooks';
import type { Span } from '@opentelemetry/api';
import type { Block, OngoingPileUp, PileUpShare } from '../block.ts';
import { type Clock, canCountIterations } from '../support/clock.ts';
import type { BlockEnd } from './queue.ts';
import type { BlockSpan } from './recent-blocks.ts';
import {
  type BlockedPeriod,
  type EntrySpanSink,
  type OngoingView,
  type SpansAround,
  stallsOfThread,
} from './stalls.ts';

type SuspectedTime = Pick<Block, 'start' | 'end' | 'cpu'>;

/** An ongoing pile-up that was suspended is asked about again when it has grown by so much. */
const SUSPENDED_GROWTH = 0.05;

export class BlockFeed {
  readonly #stalls = stallsOfThread();
  readonly #ongoing: OngoingView;
  readonly #isSuspension: ((time: SuspectedTime) => boolean) | undefined;
  /** The pile-up that was asked about last, its end then, and the answer. */
  #askedStart = Number.NaN;
  #askedEnd = Number.NaN;
  #wasSuspended = false;

  /**
   * @param ongoingPileUp what has piled up in this iteration, where it reaches the threshold. Hot:
   *   asked for each span that ends. As that of the ledger
   * @param entrySpanSink for the metric
   * @param reportPending asked for when the SDK shuts down
   * @param more `reportEnded` is asked for when the SDK flushes; `taskStart` as the ledger's;
   *   `isSuspended` says whether a pile-up reached the threshold by a suspension only
   */
  constructor(
    private readonly clock: Pick<Clock, 'epoch' | 'loopCount' | 'waited'>,
    ongoingPileUp: (span?: Span) => OngoingPileUp | PileUpShare | undefined,
    private readonly entrySpanSink: EntrySpanSink,
    reportPending: () => void = () => {},
    more: Pick<OngoingView, 'reportEnded'> & {
      taskStart?(): number;
      isSuspended?(pileUp: SuspectedTime): boolean;
    } = {},
  ) {
    // Weakly: what ran in a pile-up goes with it.
    const periods = new WeakMap<OngoingPileUp, BlockedPeriod>();
    this.#isSuspension = more.isSuspended;
    this.#ongoing = {
      ongoingPileUp: (span) => {
        const pileUp = ongoingPileUp(span);
        if (pileUp === undefined || this.#isSuspended(pileUp)) return undefined;
        if ('share' in pileUp) {
          const { start, end, share } = pileUp;
          return { start: clock.epoch(start), end: clock.epoch(end), share };
        }
        let period = periods.get(pileUp);
        if (period === undefined) {
          period = this.#inUnixTime(pileUp);
          periods.set(pileUp, period);
        }
        return period;
      },
      reportPending,
      reportEnded: () => more.reportEnded?.(),
      spanBegin: () => ({
        iteration: clock.loopCount(),
        idle: clock.waited(),
        taskStart: more.taskStart?.() ?? Number.NaN,
        asyncId: executionAsyncId(),
      }),
    };
  }

  start(): void {
    this.#stalls.ongoing = this.#ongoing;
    this.#stalls.entrySpanSink = this.entrySpanSink;
  }

  /** Does nothing where another instrumentation has taken its place. */
  stop(): void {
    if (this.#stalls.ongoing === this.#ongoing) {
      this.#stalls.nameCauses();
      this.#stalls.ongoing = undefined;
    }
    if (this.#stalls.entrySpanSink === this.entrySpanSink) this.#stalls.entrySpanSink = undefined;
  }

  /** Of a block that has just ended; undefined where spans cannot be compared with it. */
  spansAround(block: Block): SpansAround | undefined {
    // Promise reactions without a stack sample: which spans blocked and which were stalled is not
    // known.
    if (block.kind === 'microtasks' && block.context === undefined) return undefined;
    return this.#stalls.spansAround(this.#inUnixTime(block));
  }

  /**
   * From now on spans that end may be found to have waited for this block.
   * @param span the block's own, where it may have one
   */
  add(block: Block, around: SpansAround, span: BlockSpan | undefined): void {
    const loopEnd = canCountIterations ? this.#loopEnd(block) : undefined;
    this.#stalls.add({ ...this.#inUnixTime(block), loopEnd }, around, span);
  }

  /** A block is known when it has ended, or when the next iteration has begun. */
  #loopEnd({ kind, end, waitedSince }: Block): BlockEnd {
    const isOver = waitedSince !== undefined || kind === undefined;
    return {
      end,
      iteration: this.clock.loopCount() - (isOver ? 1 : 0),
      idle: this.clock.waited() - (waitedSince ?? 0),
      // Destroyed when it is collected: hooks of others may keep something for it until then.
      asyncId: new AsyncResource('EventLoopBlock').asyncId(),
    };
  }

  /**
   * Hot. Whether a pile-up reached the threshold by a suspension only. It takes 100 µs to find out,
   * and more may be added to one that did not, but nothing is taken off it.
   */
  #isSuspended(pileUp: SuspectedTime): boolean {
    const { start, end } = pileUp;
    const isSame = start === this.#askedStart;
    const hasGrown = end - this.#askedEnd > (end - start) * SUSPENDED_GROWTH;
    if (!isSame || (this.#wasSuspended && hasGrown)) {
      this.#askedStart = start;
      this.#askedEnd = end;
      this.#wasSuspended = this.#isSuspension?.(pileUp) === true;
    }
    return this.#wasSuspended;
  }

  #inUnixTime({ start, end, context, ran, kind }: OngoingPileUp & Partial<Block>): BlockedPeriod {
    return {
      start: this.clock.epoch(start),
      end: this.clock.epoch(end),
      context,
      ...(ran !== undefined && { ran }),
      ...(kind === 'callback' && { callbackStart: start }),
    };
  }
}
