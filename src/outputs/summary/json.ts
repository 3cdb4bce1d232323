/**
 * Blocks and summaries as JSON: `console.schema.json`, at the top of the package, describes both.
 * What `/testing` records is serialized by the same function.
 */

import { ownTotals } from '../../support/own-totals.ts';
import type { AttributedRequest, EventLoopBlock } from '../../types.ts';
import { adviceOf } from './advice.ts';
import { placeOf } from './requests.ts';
import type { BlockSummary } from './summary.ts';

/** `advice` says in one sentence what to change. */
export function blockJson(
  block: EventLoopBlock,
  attribution: AttributedRequest = {},
  isStartUp = false,
) {
  const advice = adviceOf(block, block.code?.requires, isStartUp);
  return {
    type: 'event-loop-blocked',
    ...block,
    ...attribution,
    ...(advice !== undefined && { advice }),
  };
}

/** Blocks of one place that have no line of their own. */
export function repeatedJson({
  block,
  blocks,
  totalMillis,
}: {
  block: EventLoopBlock;
  blocks: number;
  totalMillis: number;
}) {
  return { type: 'event-loop-repeated', ...placeOf(block.code), blocks, totalMillis };
}

export const summaryJson = (summary: BlockSummary) => ({
  type: 'event-loop-summary',
  ...summary,
  own: { ...ownTotals },
});
