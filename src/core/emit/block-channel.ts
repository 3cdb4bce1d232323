/** Publishes blocks for subscribers in this process, with or without an SDK. */
import { blocks } from '../../channels.ts';
import type { OriginOf } from '../explain/name/in-app.ts';
import { sampledStacks } from '../explain/name/sampled-stacks.ts';
import { attributedRequest } from './attributed-request.ts';
import { type Emitter, isIgnored } from './emitter.ts';
import { type BlockSources, toEvidence } from './evidence.ts';

export const createBlockChannel = (originOf: OriginOf, sources: BlockSources): Emitter => ({
  failure: 'cannot pass on a block',
  emit(report) {
    if (!blocks.hasSubscribers) return;
    const { block, context, samples } = report;
    const { runDelayMillis } = report.ended;
    blocks.publish({
      block,
      context,
      ...(isIgnored(report) && { ignored: true }),
      ...(runDelayMillis !== undefined && { runDelayMillis }),
      request: () => attributedRequest(context),
      stacks: () => sampledStacks(samples, originOf),
      evidence: (options) => toEvidence(report, originOf, sources, options),
    });
  },
});
