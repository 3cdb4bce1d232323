/** One block as one span. */
import {
  type Attributes,
  type Context,
  type HrTime,
  isSpanContextValid,
  type Span,
  SpanKind,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { blockAttributes } from '../block-attributes.ts';
import { addMillis, hrTimeToMillis, isBefore, toHrTime } from '../otel/hr-time.ts';
import { spanEndTime, spanStartTime } from '../otel/sdk-internals.ts';
import { ATTR_EVENT_LOOP_BLOCK_DURATION, SPAN_EVENT_LOOP_BLOCKED } from '../semconv.ts';
import { THIS_THREAD } from '../support/this-thread.ts';
import type { EventLoopBlock } from '../types.ts';

/**
 * A block that goes on for longer after its parent has ended is shown as a whole: by less than
 * this, a block may outlast the span that it is attributed to (`loop/attribution.ts`).
 */
const MAX_CUT = 0.25;

/** A span, and the time it is to be ended with. */
export interface StartedSpan {
  readonly span: Span;
  readonly endTime: HrTime;
}

/** The span a block in this context is a child of. */
export function parentOf(context: Context): Span | undefined {
  const span = trace.getSpan(context);
  return span !== undefined && isSpanContextValid(span.spanContext()) ? span : undefined;
}

/**
 * Both times are explicit: the block is over. The span never starts before its parent: what came
 * before was not the parent's (and the SDK starts spans by `Date.now()`, which is cut to whole
 * milliseconds). Nor does it end after a parent that is known to have ended near the end of the
 * block: what came then is the remainder of its callback. Where that makes the span shorter, an
 * attribute has the length of the block.
 */
export function startBlockSpan(
  tracer: Tracer,
  block: EventLoopBlock,
  context: Context,
): StartedSpan {
  let startTime = toHrTime(block.startTimeMillis);
  let endTime = addMillis(startTime, block.durationMillis);
  const parent = parentOf(context);
  const parentStart = parent && spanStartTime(parent);
  const attributes = attributesOf(block);
  if (parentStart !== undefined && isBefore(startTime, parentStart)) {
    startTime = parentStart;
    attributes[ATTR_EVENT_LOOP_BLOCK_DURATION] = block.durationMillis / 1000;
  }
  const parentEnd = parent && spanEndTime(parent);
  if (parentEnd !== undefined && isNearEnd(parentEnd, endTime, block.durationMillis)) {
    endTime = parentEnd;
    attributes[ATTR_EVENT_LOOP_BLOCK_DURATION] = block.durationMillis / 1000;
  }
  if (isBefore(endTime, startTime)) endTime = startTime;
  const span = tracer.startSpan(
    SPAN_EVENT_LOOP_BLOCKED,
    { kind: SpanKind.INTERNAL, startTime, attributes },
    context,
  );
  return { span, endTime };
}

function isNearEnd(parentEnd: HrTime, endTime: HrTime, durationMillis: number): boolean {
  const outlastsMillis = hrTimeToMillis(endTime) - hrTimeToMillis(parentEnd);
  return outlastsMillis > 0 && outlastsMillis < MAX_CUT * durationMillis;
}

/** Of a block of this thread. */
export function attributesOf(block: EventLoopBlock): Attributes {
  return blockAttributes(block, THIS_THREAD);
}
