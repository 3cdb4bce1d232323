/**
 * What is emitted for each block. Each thing has a file of its own beside this one; the reporter
 * calls them in a fixed order, and logs what they throw.
 */
import type { Context } from '@opentelemetry/api';
import type { Block, WeightedSample } from '../../block.ts';
import type { EventLoopBlock } from '../../types.ts';
import type { BlockLink } from './block-link.ts';

/** A block that is reported: not one that this package made itself. */
export interface BlockReport {
  readonly block: EventLoopBlock;
  readonly ended: Block;
  readonly context: Context;
  readonly samples: readonly WeightedSample[];
  /** It is ended before anything but the metrics is emitted: its outcome is known to all others. */
  readonly span: BlockLink;
}

export interface Emitter {
  readonly failure: string;
  emit(report: BlockReport): void;
}

export const isIgnored = ({ span }: BlockReport): boolean => span.outcome === 'ignored';
