/**
 * What others ask of the span of a block. A span that the block has stalled links to it, also if it
 * ends before the block is reported: then the ids of the span are chosen, and it starts with them
 * later. Kept for long, so without the block once that is reported.
 */
import { type SpanContext, TraceFlags } from '@opentelemetry/api';
import type { PromisedSpan } from '../../otel/promised-span.ts';
import type { EventLoopBlock } from '../../types.ts';
import type { NoSpan } from './block-span.ts';

export class BlockLink {
  /** What became of the span, once the block is reported; `sampled`: it is exported. */
  outcome: NoSpan | 'sampled' = 'left out';
  promised: PromisedSpan | undefined;
  #spanContext: SpanContext | undefined;
  #listeners: ((facts: EventLoopBlock) => void)[] = [];

  /** Neither may throw. */
  constructor(
    private promise?: (() => PromisedSpan | undefined) | undefined,
    private queued?: (() => void) | undefined,
  ) {}

  /** Undefined if the block has no span that is recorded, or that is not known yet. */
  spanContext(): SpanContext | undefined {
    const { promise } = this;
    // First: a sampler that ends a span asks again.
    this.promise = undefined;
    if (promise !== undefined) this.promised = promise();
    return this.#spanContext ?? this.promised?.spanContext;
  }

  addQueued(): void {
    this.queued?.();
  }

  onReported(listener: (facts: EventLoopBlock) => void): void {
    this.#listeners.push(listener);
  }

  /** The span records. */
  started(spanContext: SpanContext): void {
    this.#spanContext = spanContext;
    if ((spanContext.traceFlags & TraceFlags.SAMPLED) !== 0) this.outcome = 'sampled';
  }

  reported(facts: EventLoopBlock): void {
    this.promise = undefined;
    this.promised = undefined;
    this.queued = undefined;
    const listeners = this.#listeners;
    this.#listeners = [];
    for (const listener of listeners) listener(facts);
  }
}
