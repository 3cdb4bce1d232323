/**
 * Where blocks and spans meet: the active instrumentation brings the blocks, span processors bring
 * the spans. Whichever copy of the package either of them came from, those of one thread share one
 * object.
 */
import { type Context, type HrTime, type Span, trace } from '@opentelemetry/api';
import { hrTimeToMillis } from '../otel/hr-time.ts';
import { perThread } from '../support/per-thread.ts';
import { PACKAGE_NAME } from '../version.ts';
import type { OpenSpans } from './open-spans.ts';
import { type BlockSpan, MIN_STALL_MILLIS, RecentBlocks, type Stall } from './recent-blocks.ts';

/** Time in which the event loop was blocked. Unix times in milliseconds. */
export interface BlockedPeriod {
  readonly start: number;
  readonly end: number;
  /** The context that the block is attributed to. */
  readonly context: Context | undefined;
}

/** What blocks the event loop now, and what has blocked it and waits to be reported. */
export interface OngoingView {
  /** The pile-up that is under way, where it has reached the threshold. Hot. */
  ongoingPileUp(): BlockedPeriod | undefined;
  /** Reports the blocks that have ended and wait to be reported. */
  reportPending?(): void;
}

/** Called when an entry span (SERVER, CONSUMER) has ended, stalled or not. */
export type EntrySpanSink = (stallMillis: number) => void;

/** A span of the SDK. */
export interface TimedSpan {
  readonly startTime: HrTime;
  readonly endTime: HrTime;
}

/** The spans that were open when a block ended. */
export interface SpansAround {
  /** Ids of the span that the block is attributed to and of those around it. */
  readonly blockingSpanIds: ReadonlySet<string>;
  /** How many other spans had not ended. */
  readonly stalledSpans: number;
}

export class Stalls {
  /** Of the active instrumentation. */
  ongoing: OngoingView | undefined;
  /** Of the active instrumentation. */
  entrySpanSink: EntrySpanSink | undefined;
  readonly #blocks = new RecentBlocks();
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
  spansAround({ end, context }: BlockedPeriod): SpansAround | undefined {
    const watched = this.#watched();
    if (watched.length === 0) return undefined;
    const blockingSpanIds = this.#blockingSpanIds(context);
    let stalledSpans = 0;
    for (const openSpans of watched) {
      // Two processors of one provider are given the same spans.
      stalledSpans = Math.max(stalledSpans, openSpans.countStalled(end, blockingSpanIds));
    }
    return { blockingSpanIds, stalledSpans };
  }

  /** From now on spans that end may be found to have waited for this block. */
  add(
    { start, end }: BlockedPeriod,
    { blockingSpanIds }: SpansAround,
    span: BlockSpan | undefined,
  ): void {
    this.#blocks.add({ start, end, blockingSpanIds, span });
  }

  /** Hot: how long a span that ends was stalled; undefined where it surely was not. */
  stallOf(span: Span & TimedSpan): Stall | undefined {
    const pileUp = this.ongoing?.ongoingPileUp();
    const start = hrTimeToMillis(span.startTime);
    if (pileUp === undefined && !this.#blocks.endedAfter(start)) return undefined;
    const end = hrTimeToMillis(span.endTime);
    const { spanId } = span.spanContext();
    const stall = this.#blocks.stallOf(spanId, start, end);
    if (pileUp === undefined) return stall;
    const more = Math.min(end, pileUp.end) - Math.max(start, pileUp.start);
    if (!(more >= MIN_STALL_MILLIS) || this.#blockingSpanIds(pileUp.context).has(spanId))
      return stall;
    return {
      ...stall,
      millis: stall.millis + more,
      // A pile-up that has not ended has no span that a link could lead to.
      ...(more > stall.longestMillis && { longest: undefined, longestMillis: more }),
    };
  }

  #blockingSpanIds(context: Context | undefined): Set<string> {
    const ids = new Set<string>();
    const span = context && trace.getSpan(context);
    if (span !== undefined)
      for (const openSpans of this.#watched()) openSpans.addAncestry(span, ids);
    return ids;
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

const KEY = Symbol.for(`${PACKAGE_NAME}.stalls.v1`);

/** Those of this thread. */
export function stallsOfThread(): Stalls {
  return perThread(KEY, () => new Stalls());
}
