/**
 * Blocks for subscribers in this process, with or without an SDK. Costs nothing without a
 * subscriber.
 */
import { channel } from 'node:diagnostics_channel';
import type { Context } from '@opentelemetry/api';
import type { EventLoopBlock } from '../types.ts';
import { PACKAGE_NAME } from '../version.ts';
import { type Emitter, isIgnored } from './emitter.ts';

/**
 * Name of the `node:diagnostics_channel` on which every block is published once it has ended, as a
 * {@link BlockMessage}: also those that get no span, because nothing is sampled or there is no SDK.
 */
export const BLOCK_CHANNEL = `${PACKAGE_NAME}:block`;

/** What is published on {@link BLOCK_CHANNEL}. */
export interface BlockMessage {
  readonly block: EventLoopBlock;
  /** The context that the block is attributed to: `trace.getSpan(context)` is the blocking span. */
  readonly context: Context;
  /** It gets neither a span nor an event: `expectBlock` or `ignoreBlockHook`. Absent otherwise. */
  readonly ignored?: true;
}

const blocks = channel(BLOCK_CHANNEL);

export const blockChannel: Emitter = {
  failure: 'cannot pass on a block',
  emit(report) {
    if (!blocks.hasSubscribers) return;
    const { block, context } = report;
    const message: BlockMessage = { block, context, ...(isIgnored(report) && { ignored: true }) };
    blocks.publish(message);
  },
};
