/**
 * The span of one block, from the end of the block until the block is reported: no other code
 * starts it, knows whether it was started, or ends it.
 */
import { type Span, type SpanContext, TraceFlags } from '@opentelemetry/api';
import type { Guard } from '../support/guard.ts';
import type { EventLoopBlock } from '../types.ts';
import { attributesOf, type BlockSpans, type NoSpan, type StartedSpan } from './block-span.ts';
import type { EndedBlock } from './ended-block.ts';

export class PendingBlockSpan {
  #wasAsked = false;
  #started: StartedSpan | undefined;
  #outcome: NoSpan | 'sampled' = 'left out';
  #spanContext: SpanContext | undefined;
  #listeners: ((facts: EventLoopBlock) => void)[] = [];

  /** @param unreported kept until the block is reported: later, spans still ask for the link */
  constructor(
    private unreported:
      | {
          readonly block: EndedBlock;
          readonly spans: Pick<BlockSpans, 'start' | 'startEarly' | 'confirm'>;
          readonly guard: Guard;
        }
      | undefined,
  ) {}

  /**
   * For a stalled span, which may end before the block is reported: starts the block's span, unless
   * that was done. Undefined if it has none that is recorded, or that is not known yet. The code of
   * the block is not: to name it here would keep the application waiting. Never throws.
   */
  spanContext(): SpanContext | undefined {
    const unreported = this.unreported;
    if (unreported !== undefined && !this.#wasAsked) {
      // This comes first: a tracer that throws, or asks for this span itself, is not asked again.
      this.#wasAsked = true;
      const { block, spans, guard } = unreported;
      guard.run('cannot report a block', () =>
        this.#use(spans.startEarly(block.unnamed(), block.context)),
      );
    }
    return this.#spanContext;
  }

  /** What became of the span, once the block is reported; `sampled`: it is exported. */
  get outcome() {
    return this.#outcome;
  }

  addQueued(): void {
    this.unreported?.block.addQueued();
  }

  onReported(listener: (facts: EventLoopBlock) => void): void {
    this.#listeners.push(listener);
  }

  /**
   * Ends the span, if the block has one, and keeps nothing but the span's context.
   * @param facts as they are known now; a span that was started early gets what it lacks
   * @param hook is called while the span is still recorded
   */
  finish(facts: EventLoopBlock, hook: (span: Span) => void): void {
    const unreported = this.unreported;
    if (unreported === undefined) return;
    try {
      const { block, spans } = unreported;
      const isComplete = this.#started === undefined;
      if (isComplete) {
        this.#wasAsked = true;
        this.#use(spans.start(facts, block.context));
      }
      if (this.#started === undefined) return;
      const { span, endTime } = this.#started;
      if (span.isRecording()) {
        if (!isComplete) {
          if (!spans.confirm(facts)) {
            // A span that is not ended is not exported.
            this.#outcome = 'ignored';
            this.#spanContext = undefined;
            return;
          }
          span.setAttributes(attributesOf(facts));
        }
        hook(span);
      }
      span.end(endTime);
    } finally {
      this.unreported = undefined;
      this.#started = undefined;
      const listeners = this.#listeners;
      this.#listeners = [];
      for (const listener of listeners) listener(facts);
    }
  }

  #use(started: StartedSpan | NoSpan | undefined): void {
    if (started === undefined) return;
    if (typeof started === 'string') {
      this.#outcome = started;
      return;
    }
    this.#started = started;
    // Ask before the span ends: afterwards it does not say whether it was recorded.
    if (started.span.isRecording() !== true) return;
    this.#spanContext = started.span.spanContext();
    const isSampled = (this.#spanContext.traceFlags & TraceFlags.SAMPLED) !== 0;
    if (isSampled) this.#outcome = 'sampled';
  }
}
