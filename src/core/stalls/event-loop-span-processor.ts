/**
 * Sets on every span how long it was stalled by blocks that it did not cause, and which block was
 * the longest.
 */
import type {
  Attributes,
  Context,
  HrTime,
  Link,
  Span,
  SpanContext,
  SpanKind,
} from '@opentelemetry/api';
import { OnceLogger } from '../../otel/diag-once.ts';
import { isEntryKind } from '../../otel/entry-span.ts';
import {
  ATTR_EVENT_LOOP_LINK_TYPE,
  ATTR_EVENT_LOOP_STALL_DURATION,
  ATTR_EVENT_LOOP_STALL_INCOMPLETE,
  ATTR_EVENT_LOOP_STALL_QUEUED,
  LINK_TYPE_BLOCKED_BY,
} from '../../semconv.ts';
import { isBlockSpan } from './open-spans.ts';
import type { Queued } from './queue.ts';
import type { RecentBlock, Stall } from './recent-blocks.ts';
import { stallsOfThread } from './stalls.ts';

/** A span that was stalled for less than this by a block is not linked to it, in milliseconds. */
export const MIN_LINKED_STALL_MILLIS = 10;

/** The fields that are read of a span that ends: `ReadableSpan` of the SDK, in both lines. */
export interface EndingSpan {
  readonly kind: SpanKind;
  readonly startTime: HrTime;
  readonly endTime: HrTime;
  readonly attributes: Attributes;
  readonly links: Link[];
  spanContext(): SpanContext;
}

/**
 * Registered beside the processor that exports, it compares every span that ends with the blocks of
 * the event loop. A span that was open while something else blocked the event loop gets
 * `event_loop.stall.duration`, and a link of the type `blocked_by` to the span of the block it
 * waited longest for, if it waited at least 10 ms. An entry span that began right after a block
 * gets `event_loop.stall.queued`, the most that it may have waited before, and a link, too.
 *
 * ```ts
 * new NodeSDK({
 *   spanProcessors: [
 *     new EventLoopSpanProcessor(),
 *     new BatchSpanProcessor({ exporter: new OTLPTraceExporter() }),
 *   ],
 *   instrumentations: [new EventLoopInstrumentation()],
 * }).start();
 * ```
 *
 * It needs an enabled `EventLoopInstrumentation` in the same thread, and does nothing without one.
 *
 * The SDK calls `onEnding` from 2.3 on, while attributes can still be set. With an older SDK no
 * span gets them.
 */
export class EventLoopSpanProcessor {
  readonly #stalls = stallsOfThread();
  readonly #log = new OnceLogger();
  #isShutDown = false;

  constructor() {
    this.#stalls.watch();
  }

  onStart(span: Span, parentContext: Context): void {
    try {
      if (this.#isShutDown) return;
      if (isEntryKind(span as Span & EndingSpan)) this.#stalls.begin();
      this.#stalls.started(span, parentContext);
    } catch (error) {
      this.#failed(error);
    }
  }

  /** Hot, for every span. */
  onEnding(ending: Span): void {
    const span = ending as Span & EndingSpan;
    try {
      const queued = this.#stalls.ending(span);
      const stall = this.#stalls.stallOf(span);
      setOn(span, stall, queued);
      // Last: the host's meter may throw.
      if (isEntryKind(span)) this.#stalls.ended(span, stall, queued);
    } catch (error) {
      this.#failed(error);
    }
  }

  onEnd(_span: EndingSpan): void {}

  /** Resolves when all blocks that have ended are reported. */
  async forceFlush(): Promise<void> {
    try {
      await this.#stalls.session?.report();
    } catch (error) {
      this.#failed(error);
    }
  }

  /** Everything is reported at once, before other processors end. */
  async shutdown(): Promise<void> {
    if (this.#isShutDown) return;
    this.#isShutDown = true;
    try {
      this.#stalls.session?.settle();
      this.#stalls.report(true);
      this.#stalls.unwatch();
    } catch (error) {
      this.#failed(error);
    }
  }

  #failed(error: unknown): void {
    this.#log.log('error', 'cannot find out how long a span was stalled', error);
  }
}

/** Attributes and links for a span that ends, if it has waited. */
function setOn(span: Span, stall: Stall | undefined, queued: Queued | undefined): void {
  const isStalled = stall !== undefined && stall.millis > 0 && !isBlockSpan(span);
  if (!isStalled && queued === undefined) return;
  const attributes: Attributes = {};
  const blocks = new Set<RecentBlock>();
  if (isStalled) {
    attributes[ATTR_EVENT_LOOP_STALL_DURATION] = stall.millis / 1000;
    if (stall.incomplete) attributes[ATTR_EVENT_LOOP_STALL_INCOMPLETE] = true;
    if (stall.longest !== undefined && stall.longestMillis >= MIN_LINKED_STALL_MILLIS)
      blocks.add(stall.longest);
  }
  if (queued !== undefined) {
    attributes[ATTR_EVENT_LOOP_STALL_QUEUED] = queued.millis / 1000;
    if (queued.millis >= MIN_LINKED_STALL_MILLIS) blocks.add(queued.longest);
  }
  span.setAttributes(attributes);
  for (const block of blocks) {
    const context = block.span?.spanContext();
    // A block may have no span.
    if (context === undefined) continue;
    span.addLink({ context, attributes: { [ATTR_EVENT_LOOP_LINK_TYPE]: LINK_TYPE_BLOCKED_BY } });
  }
}
