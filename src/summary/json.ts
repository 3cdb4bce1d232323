/**
 * Blocks and summaries as JSON: `console.schema.json`, at the top of the package, describes both.
 * What `/testing` records is serialized by the same function.
 */

import type { AttributedRequest } from '../report/block-line.ts';
import type { EventLoopBlock, LoopProfile } from '../types.ts';
import { adviceOf } from './advice.ts';
import type { BlockSummary } from './summary.ts';

export const BLOCK_TYPE = 'event-loop-blocked';
export const SUMMARY_TYPE = 'event-loop-summary';

export type SummaryJson = BlockSummary & {
  readonly type: typeof SUMMARY_TYPE;
  /** If the loop was busy for half of the time. */
  readonly loopProfile?: LoopProfile;
};

/** `advice` says in one sentence what to change. */
export function blockJson(block: EventLoopBlock, attribution: AttributedRequest = {}) {
  const advice = adviceOf(block, block.code?.requires);
  return { type: BLOCK_TYPE, ...block, ...attribution, ...(advice !== undefined && { advice }) };
}

export function summaryJson(summary: BlockSummary, loopProfile?: LoopProfile): SummaryJson {
  const hasSamples = loopProfile !== undefined && loopProfile.samples > 0;
  return { type: SUMMARY_TYPE, ...summary, ...(hasSamples && { loopProfile }) };
}
