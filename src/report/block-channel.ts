/** Publishes blocks for subscribers in this process, with or without an SDK. */
import type { Context } from '@opentelemetry/api';
import { type BlockMessage, blocks, type EvidenceOptions } from '../channels.ts';
import type { OriginOf } from '../name/in-app.ts';
import { sampledStacks } from '../name/sampled-stacks.ts';
import type { EventLoopBlock } from '../types.ts';
import { attributedRequest } from './attributed-request.ts';
import { type BlockReport, type Emitter, isIgnored } from './emitter.ts';
import { type BlockSources, toEvidence } from './evidence.ts';

export const createBlockChannel = (originOf: OriginOf, sources: BlockSources): Emitter => ({
  failure: 'cannot pass on a block',
  emit(report) {
    if (blocks.hasSubscribers) blocks.publish(new PublishedBlock(report, originOf, sources));
  },
});

class PublishedBlock implements BlockMessage {
  readonly block: EventLoopBlock;
  readonly context: Context;
  readonly ignored?: true;
  readonly runDelayMillis?: NonNullable<BlockMessage['runDelayMillis']>;
  readonly #report: BlockReport;
  readonly #originOf: OriginOf;
  readonly #sources: BlockSources;

  constructor(report: BlockReport, originOf: OriginOf, sources: BlockSources) {
    const { runDelayMillis } = report.ended;
    this.block = report.block;
    this.context = report.context;
    if (isIgnored(report)) this.ignored = true;
    if (runDelayMillis !== undefined) this.runDelayMillis = runDelayMillis;
    this.#report = report;
    this.#originOf = originOf;
    this.#sources = sources;
  }

  request() {
    return attributedRequest(this.context);
  }

  stacks() {
    return sampledStacks(this.#report.samples, this.#originOf);
  }

  evidence(options?: EvidenceOptions) {
    return toEvidence(this.#report, this.#originOf, this.#sources, options);
  }
}
