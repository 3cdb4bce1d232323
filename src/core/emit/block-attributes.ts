/**
 * The attributes of a block, for whatever reports it, in any thread. Pure, from facts that survive
 * JSON: it reads neither the thread nor a clock.
 */
import type { Attributes } from '@opentelemetry/api';
import * as semconv from '../../semconv.ts';
import { toPath } from '../../support/file-url.ts';
import type { EventLoopBlock, FunctionShare } from '../../types.ts';

/** The thread whose event loop was blocked. */
export interface BlockedThread {
  readonly id: number;
  readonly name: string;
}

/**
 * An unknown fact has no attribute. Of a block that has not ended less is known, and its code may
 * have a URL for a file.
 */
export function blockAttributes(
  block: Omit<EventLoopBlock, 'startTimeMillis' | 'durationMillis' | 'samples'> & {
    /** 0, or undefined if samples are not counted: no attribute. */
    readonly samples?: number;
    readonly isOngoing?: boolean;
  },
  thread: BlockedThread,
): Attributes {
  const { code } = block;
  return defined({
    [semconv.ATTR_EVENT_LOOP_BLOCK_KIND]: block.kind,
    [semconv.ATTR_EVENT_LOOP_BLOCK_UNFINISHED]: block.isOngoing === true ? true : undefined,
    [semconv.ATTR_EVENT_LOOP_BLOCK_CALLBACKS]: block.callbacks,
    [semconv.ATTR_EVENT_LOOP_ASYNC_RESOURCE_TYPE]: block.asyncResourceType,
    [semconv.ATTR_EVENT_LOOP_BLOCK_CPU_TIME]: seconds(block.cpuTimeMillis),
    [semconv.ATTR_EVENT_LOOP_BLOCK_GC_TIME]: seconds(block.gcTimeMillis),
    [semconv.ATTR_EVENT_LOOP_BLOCK_CAUSE]: block.cause,
    [semconv.ATTR_EVENT_LOOP_BLOCK_NATIVE_CALL]: block.nativeCall?.name,
    [semconv.ATTR_EVENT_LOOP_BLOCK_NATIVE_CALL_SIZE]: block.nativeCall?.size,
    [semconv.ATTR_EVENT_LOOP_BLOCK_NATIVE_TIME]: seconds(block.nativeTimeMillis),
    [semconv.ATTR_EVENT_LOOP_BLOCK_CALLED_BY]: code?.calledBy,
    [semconv.ATTR_EVENT_LOOP_BLOCK_LOADED_MODULE]: code?.requires,
    [semconv.ATTR_EVENT_LOOP_BLOCK_STALLED_SPANS]: block.stalledSpans,
    [semconv.ATTR_EVENT_LOOP_BLOCK_QUEUED_SPANS]: block.queuedSpans,
    [semconv.ATTR_EVENT_LOOP_BLOCK_SAMPLES]: block.samples === 0 ? undefined : block.samples,
    [semconv.ATTR_EVENT_LOOP_BLOCK_TOP_FUNCTIONS]:
      block.topFunctions && sharesOf(block.topFunctions),
    [semconv.ATTR_CODE_FUNCTION_NAME]: code?.functionName,
    [semconv.ATTR_CODE_FILE_PATH]: code?.file && toPath(code.file),
    [semconv.ATTR_CODE_LINE_NUMBER]: code?.line,
    [semconv.ATTR_CODE_COLUMN_NUMBER]: code?.column,
    [semconv.ATTR_CODE_STACKTRACE]: code?.stackTrace,
    [semconv.ATTR_THREAD_ID]: thread.id,
    [semconv.ATTR_THREAD_NAME]: thread.name,
  });
}

/** `hashRow 78%, formatRow 22%` */
function sharesOf(functions: readonly FunctionShare[]): string {
  return functions
    .map(({ functionName, share }) => `${functionName} ${Math.round(share * 100)}%`)
    .join(', ');
}

/** OpenTelemetry has times in seconds. */
function seconds(millis: number | undefined): number | undefined {
  return millis === undefined ? undefined : millis / 1000;
}

function defined(attributes: Attributes): Attributes {
  const known: Attributes = {};
  for (const [name, value] of Object.entries(attributes))
    if (value !== undefined) known[name] = value;
  return known;
}
