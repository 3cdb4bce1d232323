/** Leads from those who waited for a block to its span. */
import type { SpanContext } from '@opentelemetry/api';

/** Kept for long: whatever the block held on to is let go of as soon as it has been reported. */
export class BlockLink {
  #find: (() => SpanContext | undefined) | undefined;
  #found: SpanContext | undefined;

  /** @param find starts the block's span, where it may have one and has none yet */
  constructor(find: () => SpanContext | undefined) {
    this.#find = find;
  }

  /** Of the block's span; undefined where it has none, or none that is recorded. */
  spanContext(): SpanContext | undefined {
    return this.#find === undefined ? this.#found : this.#find();
  }

  /** The block has been reported. */
  settle(): void {
    this.#found = this.spanContext();
    this.#find = undefined;
  }
}

/**
 * What is remembered with a block. A closure in a scope of its own: beside others that see the block, it would keep the block alive, and with
 * it context and stacks.
 */
export function followLink(link: BlockLink | undefined): () => SpanContext | undefined {
  return () => link?.spanContext();
}
