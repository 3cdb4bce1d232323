/**
 * Where blocks and spans meet: the instrumentation tells of blocks, span processors tell of spans. One for each thread, found under a
 * registered symbol, so that it does not matter which copy of the package, ESM or CommonJS, either of them came from.
 */
import { type Context, type HrTime, type Span, type SpanContext, trace } from '@opentelemetry/api';
import { hrTimeToMillis } from '../otel/hr-time.ts';
import type { OpenSpans } from './open-spans.ts';
import { MIN_STALL_MILLIS, RecentBlocks, type Stall } from './recent-blocks.ts';

/** A pile-up that has not ended: what ran in this iteration before the running callback. Unix times in milliseconds. */
export interface RunningPileUp {
  readonly start: number;
  readonly end: number;
  readonly context: Context | undefined;
}

/** What the active instrumentation answers and is told. */
export interface BlockSource {
  /** The pile-up that is under way, where it has reached the threshold. Hot. */
  runningPileUp(): RunningPileUp | undefined;
  /** An entry span (SERVER, CONSUMER) has ended. */
  entrySpanEnded(stallMillis: number): void;
}

/** A block that has just ended. Unix times in milliseconds. */
export interface EndedBlock {
  readonly start: number;
  readonly end: number;
  readonly context: Context | undefined;
}

/** A span of the SDK. */
export interface TimedSpan {
  readonly startTime: HrTime;
  readonly endTime: HrTime;
}

/** Who was around a block. */
export interface Bystanders {
  /** Ids of the spans that held the loop. */
  readonly culprits: ReadonlySet<string>;
  /** How many other spans had not ended. */
  readonly stalledSpans: number;
}

export class Stalls {
  readonly #blocks = new RecentBlocks();
  /** Weakly: a processor whose provider is dropped without a shutdown goes with it. */
  readonly #openSpans = new Set<WeakRef<OpenSpans>>();
  #source: BlockSource | undefined;

  /** A processor has come. */
  watch(openSpans: OpenSpans): void {
    this.#openSpans.add(new WeakRef(openSpans));
  }

  /** A processor was shut down. */
  unwatch(openSpans: OpenSpans): void {
    for (const known of this.#openSpans) if (known.deref() === openSpans) this.#openSpans.delete(known);
  }

  setSource(source: BlockSource): void {
    this.#source = source;
  }

  clearSource(source: BlockSource): void {
    if (this.#source === source) this.#source = undefined;
  }

  /** Who was around a block that has just ended; undefined where no processor tells of spans. */
  bystandersOf({ end, context }: EndedBlock): Bystanders | undefined {
    const watched = this.#watched();
    if (watched.length === 0) return undefined;
    const culprits = this.#culpritsIn(context);
    let stalledSpans = 0;
    for (const openSpans of watched) {
      // Two processors of one provider are told of the same spans.
      stalledSpans = Math.max(stalledSpans, openSpans.countWaiting(end, culprits));
    }
    return { culprits, stalledSpans };
  }

  /** From now on spans that end may be found to have waited for this block. */
  add(block: EndedBlock, { culprits }: Bystanders, spanContext: () => SpanContext | undefined): void {
    this.#blocks.add({ start: block.start, end: block.end, culprits, spanContext });
  }

  /** Hot: what a span that ends waited, or undefined where it surely did not. */
  stallOf(span: Span & TimedSpan): Stall | undefined {
    const pileUp = this.#source?.runningPileUp();
    const start = hrTimeToMillis(span.startTime);
    if (pileUp === undefined && !this.#blocks.endedAfter(start)) return undefined;
    const end = hrTimeToMillis(span.endTime);
    const { spanId } = span.spanContext();
    const stall = this.#blocks.stallOf(spanId, start, end);
    if (pileUp === undefined) return stall;
    const more = Math.min(end, pileUp.end) - Math.max(start, pileUp.start);
    if (!(more >= MIN_STALL_MILLIS) || this.#culpritsIn(pileUp.context).has(spanId)) return stall;
    return {
      ...stall,
      millis: stall.millis + more,
      // A pile-up that has not ended has no span that a link could lead to.
      ...(more > stall.longestMillis && { longest: undefined, longestMillis: more }),
    };
  }

  /** An entry span has ended, stalled or not. */
  entrySpanEnded(stallMillis: number): void {
    this.#source?.entrySpanEnded(stallMillis);
  }

  #culpritsIn(context: Context | undefined): Set<string> {
    const ids = new Set<string>();
    const span = context && trace.getSpan(context);
    if (span !== undefined) for (const openSpans of this.#watched()) openSpans.addAncestry(span, ids);
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

const KEY = Symbol.for('opentelemetry-instrumentation-event-loop.stalls.v1');
/** Used where nothing can be put on globalThis (frozen): then only this copy's instances meet. */
const own = new Stalls();

/** Those of this thread. */
export function stallsOfThread(): Stalls {
  const holder = globalThis as { [KEY]?: unknown };
  try {
    if (holder[KEY] === undefined) Object.defineProperty(holder, KEY, { value: own, configurable: true });
    return holder[KEY] as Stalls;
  } catch {
    return own;
  }
}
