/** One block as one log event. */
import {
  type Attributes,
  type AttributeValue,
  type Context,
  INVALID_SPAN_CONTEXT,
  type Span,
  trace,
} from '@opentelemetry/api';
import { toHrTime } from '../otel/hr-time.ts';
import { type Logger, SEVERITY_WARN } from '../otel/logger.ts';
import {
  ATTR_EVENT_LOOP_BLOCK_DURATION,
  ATTR_EVENT_LOOP_BLOCK_STACKS,
  EVENT_EVENT_LOOP_BLOCKED,
  SPAN_EVENT_LOOP_BLOCKED,
} from '../semconv.ts';
import type { EventLoopBlock } from '../types.ts';
import { attributesOf } from './block-span.ts';

const WHAT = { eventName: EVENT_EVENT_LOOP_BLOCKED, severityNumber: SEVERITY_WARN };

/**
 * @param body is called only where the record is not dropped in any case
 * @param stacks the same; undefined where there are too few
 * @param hook is given what it can use like the block's span: attributes that it sets are the
 *   record's
 */
export function emitBlockEvent(
  logger: Logger,
  block: EventLoopBlock,
  context: Context,
  body: () => string,
  stacks: () => string | undefined,
  hook: (span: Span) => void,
): void {
  if (logger.enabled?.({ ...WHAT, context }) === false) return;
  const folded = stacks();
  const attributes: Attributes = {
    ...attributesOf(block),
    [ATTR_EVENT_LOOP_BLOCK_DURATION]: block.durationMillis / 1000,
    ...(folded !== undefined && { [ATTR_EVENT_LOOP_BLOCK_STACKS]: folded }),
  };
  const before = { ...attributes };
  hook(spanOf(context, attributes));
  // The body says again what the hook has replaced.
  const isChanged = Object.entries(before).some(([name, value]) => attributes[name] !== value);
  logger.emit({
    ...WHAT,
    severityText: 'WARN',
    timestamp: toHrTime(block.startTimeMillis),
    body: isChanged ? shortBody(block) : body(),
    attributes,
    context,
  });
}

function shortBody({ durationMillis, kind }: EventLoopBlock): string {
  const what = `${SPAN_EVENT_LOOP_BLOCKED} ${Math.round(durationMillis)} ms`;
  return kind === undefined ? what : `${what} ${kind}`;
}

/** It has the ids of the blocking span, as the record does; all but its attributes is ignored. */
function spanOf(context: Context, attributes: Attributes): Span {
  const span = trace.wrapSpanContext(trace.getSpanContext(context) ?? INVALID_SPAN_CONTEXT);
  // As the SDK's spans: no value is no attribute.
  const set = (name: string, value: AttributeValue | null | undefined) => {
    if (value !== undefined && value !== null) attributes[name] = value;
    return span;
  };
  return Object.assign(span, {
    isRecording: () => true,
    setAttribute: set,
    setAttributes(all: Attributes) {
      for (const [name, value] of Object.entries(all)) set(name, value);
      return span;
    },
  });
}
