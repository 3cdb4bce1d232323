/** The metrics of blocks. They count every block, also those that nothing else is emitted for. */
import type { Context } from '@opentelemetry/api';
import type { OnceLogger } from '../../otel/diag-once.ts';
import { attempt } from '../../support/guard.ts';
import type { EventLoopBlock } from '../../types.ts';
import type { BlockReport, Emitter } from './emitter.ts';
import type { Instruments } from './instruments.ts';

export class BlockMetrics implements Emitter {
  readonly failure = 'cannot record a metric';

  constructor(
    private readonly instruments: () => Instruments,
    private readonly log: OnceLogger,
  ) {}

  emit({ block, context }: Pick<BlockReport, 'block' | 'context'>): void {
    this.instruments().block(block, context);
  }

  /** A block without a span, because of the rate limit. Never throws. */
  suppressed(block: EventLoopBlock, context: Context): void {
    this.log.log('warn', 'more blocks than maxSpansPerMinute: the others get no span');
    attempt(
      () => this.instruments().suppressed(block, context),
      (error) => this.log.later.log('error', this.failure, error),
    );
  }
}
