/** One block as one log event. */
import type { Context } from '@opentelemetry/api';
import { toHrTime } from '../otel/hr-time.ts';
import { type Logger, SEVERITY_WARN } from '../otel/logger.ts';
import {
  ATTR_EVENT_LOOP_BLOCK_DURATION,
  ATTR_EVENT_LOOP_BLOCK_STACKS,
  EVENT_EVENT_LOOP_BLOCKED,
} from '../semconv.ts';
import type { EventLoopBlock } from '../types.ts';
import { attributesOf } from './block-span.ts';

const WHAT = { eventName: EVENT_EVENT_LOOP_BLOCKED, severityNumber: SEVERITY_WARN };

/**
 * @param body is called only where the record is not dropped in any case
 * @param stacks the same; undefined where there are too few
 */
export function emitBlockEvent(
  logger: Logger,
  block: EventLoopBlock,
  context: Context,
  body: () => string,
  stacks: () => string | undefined,
): void {
  if (logger.enabled?.({ ...WHAT, context }) === false) return;
  const folded = stacks();
  logger.emit({
    ...WHAT,
    severityText: 'WARN',
    timestamp: toHrTime(block.startTimeMillis),
    body: body(),
    attributes: {
      ...attributesOf(block),
      [ATTR_EVENT_LOOP_BLOCK_DURATION]: block.durationMillis / 1000,
      ...(folded !== undefined && { [ATTR_EVENT_LOOP_BLOCK_STACKS]: folded }),
    },
    context,
  });
}
