/** The metrics of blocks. They count every block, also those that nothing else is emitted for. */
import type { Context } from '@opentelemetry/api';
import type { OnceLogger } from '../otel/diag-once.ts';
import { attempt } from '../support/guard.ts';
import type { EventLoopBlock } from '../types.ts';
import type { BlockReport, Emitter } from './emitter.ts';
import type { Instruments } from './instruments.ts';

export class BlockMetrics implements Emitter {
  readonly failure = 'cannot record a metric';

  constructor(
    private readonly instruments: () => Instruments,
    private readonly log: OnceLogger,
  ) {}

  emit({ block, context }: BlockReport): void {
    this.instruments().block(block, context);
  }

  /** A block that is not reported, or not yet. Never throws. */
  count(block: EventLoopBlock, context: Context): void {
    this.#guarded(() => this.instruments().block(block, context));
  }

  /** A block without a span, because of the rate limit. Never throws. */
  suppressed(block: EventLoopBlock, context: Context): void {
    this.log.log('warn', 'more blocks than maxSpansPerMinute: the others get no span');
    this.#guarded(() => this.instruments().suppressed(block, context));
  }

  #guarded(action: () => void): void {
    attempt(action, (error) => this.log.later.log('error', this.failure, error));
  }
}
