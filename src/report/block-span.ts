/** One block as one span. */

import * as workerThreads from 'node:worker_threads';
import { threadId } from 'node:worker_threads';
import {
  type Attributes,
  type Context,
  isSpanContextValid,
  type Span,
  SpanKind,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { addMillis, isBefore, toHrTime } from '../otel/hr-time.ts';
import { spanStartTime } from '../otel/sdk-internals.ts';
import {
  ATTR_CODE_COLUMN_NUMBER,
  ATTR_CODE_FILE_PATH,
  ATTR_CODE_FUNCTION_NAME,
  ATTR_CODE_LINE_NUMBER,
  ATTR_CODE_STACKTRACE,
  ATTR_EVENT_LOOP_ASYNC_RESOURCE_TYPE,
  ATTR_EVENT_LOOP_BLOCK_CALLBACKS,
  ATTR_EVENT_LOOP_BLOCK_CPU_TIME,
  ATTR_EVENT_LOOP_BLOCK_GC_TIME,
  ATTR_EVENT_LOOP_BLOCK_KIND,
  ATTR_EVENT_LOOP_BLOCK_SAMPLES,
  ATTR_EVENT_LOOP_BLOCK_STALLED_SPANS,
  ATTR_EVENT_LOOP_BLOCK_TOP_FUNCTIONS,
  ATTR_THREAD_ID,
  ATTR_THREAD_NAME,
  SPAN_EVENT_LOOP_BLOCKED,
} from '../semconv.ts';
import type { EventLoopBlock } from '../types.ts';

// `threadName` came with Node.js 22.20 and 24.6: not there to import by name before.
const { threadName } = workerThreads as { threadName?: string };
const THREAD_NAME = workerThreads.isMainThread ? 'main' : threadName || `worker-${threadId}`;

/** The span a block in this context is a child of. */
export function parentOf(context: Context): Span | undefined {
  const span = trace.getSpan(context);
  return span !== undefined && isSpanContextValid(span.spanContext()) ? span : undefined;
}

/**
 * Starts the span of a block, and returns it with the time it is to be ended with. Both times are explicit: the block is
 * over. It never starts before its parent: what came before that was not the parent's (and `Date.now()`, by which the SDK
 * starts spans, is cut to whole milliseconds).
 */
export function startBlockSpan(tracer: Tracer, block: EventLoopBlock, context: Context) {
  let startTime = toHrTime(block.startTimeMillis);
  let endTime = addMillis(startTime, block.durationMillis);
  const parent = parentOf(context);
  const parentStart = parent && spanStartTime(parent);
  if (parentStart !== undefined && isBefore(startTime, parentStart)) startTime = parentStart;
  if (isBefore(endTime, startTime)) endTime = startTime;
  const span = tracer.startSpan(
    SPAN_EVENT_LOOP_BLOCKED,
    { kind: SpanKind.INTERNAL, startTime, attributes: attributesOf(block) },
    context,
  );
  return { span, endTime };
}

/** What is told of a block on its span. */
export function attributesOf(block: EventLoopBlock): Attributes {
  const attributes: Attributes = {
    [ATTR_EVENT_LOOP_BLOCK_CALLBACKS]: block.callbacks,
    [ATTR_THREAD_ID]: threadId,
    [ATTR_THREAD_NAME]: THREAD_NAME,
  };
  if (block.kind !== undefined) attributes[ATTR_EVENT_LOOP_BLOCK_KIND] = block.kind;
  if (block.asyncResourceType !== undefined) {
    attributes[ATTR_EVENT_LOOP_ASYNC_RESOURCE_TYPE] = block.asyncResourceType;
  }
  if (block.cpuTimeMillis !== undefined) {
    attributes[ATTR_EVENT_LOOP_BLOCK_CPU_TIME] = block.cpuTimeMillis / 1000;
  }
  if (block.gcTimeMillis !== undefined) attributes[ATTR_EVENT_LOOP_BLOCK_GC_TIME] = block.gcTimeMillis / 1000;
  if (block.stalledSpans !== undefined) attributes[ATTR_EVENT_LOOP_BLOCK_STALLED_SPANS] = block.stalledSpans;
  if (block.samples > 0) attributes[ATTR_EVENT_LOOP_BLOCK_SAMPLES] = block.samples;
  if (block.code !== undefined) {
    const { functionName, file, line, column, stackTrace } = block.code;
    attributes[ATTR_CODE_FUNCTION_NAME] = functionName;
    if (file !== undefined) attributes[ATTR_CODE_FILE_PATH] = file;
    if (line !== undefined) attributes[ATTR_CODE_LINE_NUMBER] = line;
    if (column !== undefined) attributes[ATTR_CODE_COLUMN_NUMBER] = column;
    attributes[ATTR_CODE_STACKTRACE] = stackTrace;
  }
  if (block.topFunctions !== undefined) {
    attributes[ATTR_EVENT_LOOP_BLOCK_TOP_FUNCTIONS] = block.topFunctions
      .map(({ functionName, share }) => `${functionName} ${Math.round(share * 100)}%`)
      .join(', ');
  }
  return attributes;
}
