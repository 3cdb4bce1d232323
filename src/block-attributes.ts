/**
 * The attributes of a block, for whatever reports it, in any thread. Pure, from facts that survive
 * JSON: it reads neither the thread nor a clock.
 */
import type { Attributes } from '@opentelemetry/api';
import {
  ATTR_CODE_COLUMN_NUMBER,
  ATTR_CODE_FILE_PATH,
  ATTR_CODE_FUNCTION_NAME,
  ATTR_CODE_LINE_NUMBER,
  ATTR_CODE_STACKTRACE,
  ATTR_EVENT_LOOP_ASYNC_RESOURCE_TYPE,
  ATTR_EVENT_LOOP_BLOCK_CALLBACKS,
  ATTR_EVENT_LOOP_BLOCK_CAUSE,
  ATTR_EVENT_LOOP_BLOCK_CPU_TIME,
  ATTR_EVENT_LOOP_BLOCK_GC_TIME,
  ATTR_EVENT_LOOP_BLOCK_KIND,
  ATTR_EVENT_LOOP_BLOCK_LOADED_MODULE,
  ATTR_EVENT_LOOP_BLOCK_NATIVE_CALL,
  ATTR_EVENT_LOOP_BLOCK_NATIVE_CALL_SIZE,
  ATTR_EVENT_LOOP_BLOCK_NATIVE_TIME,
  ATTR_EVENT_LOOP_BLOCK_QUEUED_SPANS,
  ATTR_EVENT_LOOP_BLOCK_SAMPLES,
  ATTR_EVENT_LOOP_BLOCK_STALLED_SPANS,
  ATTR_EVENT_LOOP_BLOCK_TOP_FUNCTIONS,
  ATTR_EVENT_LOOP_BLOCK_UNFINISHED,
  ATTR_THREAD_ID,
  ATTR_THREAD_NAME,
} from './semconv.ts';
import { toPath } from './support/file-url.ts';
import type { BlockingCode, EventLoopBlock, FunctionShare } from './types.ts';

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
  return defined({
    [ATTR_EVENT_LOOP_BLOCK_KIND]: block.kind,
    [ATTR_EVENT_LOOP_BLOCK_UNFINISHED]: block.isOngoing === true ? true : undefined,
    [ATTR_EVENT_LOOP_BLOCK_CALLBACKS]: block.callbacks,
    [ATTR_EVENT_LOOP_ASYNC_RESOURCE_TYPE]: block.asyncResourceType,
    [ATTR_EVENT_LOOP_BLOCK_CPU_TIME]: seconds(block.cpuTimeMillis),
    [ATTR_EVENT_LOOP_BLOCK_GC_TIME]: seconds(block.gcTimeMillis),
    [ATTR_EVENT_LOOP_BLOCK_CAUSE]: block.cause,
    [ATTR_EVENT_LOOP_BLOCK_NATIVE_CALL]: block.nativeCall?.name,
    [ATTR_EVENT_LOOP_BLOCK_NATIVE_CALL_SIZE]: block.nativeCall?.size,
    [ATTR_EVENT_LOOP_BLOCK_NATIVE_TIME]: seconds(block.nativeTimeMillis),
    [ATTR_EVENT_LOOP_BLOCK_LOADED_MODULE]: block.code?.requires,
    [ATTR_EVENT_LOOP_BLOCK_STALLED_SPANS]: block.stalledSpans,
    [ATTR_EVENT_LOOP_BLOCK_QUEUED_SPANS]: block.queuedSpans,
    [ATTR_EVENT_LOOP_BLOCK_SAMPLES]: block.samples === 0 ? undefined : block.samples,
    [ATTR_EVENT_LOOP_BLOCK_TOP_FUNCTIONS]: block.topFunctions && sharesOf(block.topFunctions),
    ...(block.code && codeAttributes(block.code)),
    [ATTR_THREAD_ID]: thread.id,
    [ATTR_THREAD_NAME]: thread.name,
  });
}

function codeAttributes({
  functionName,
  file,
  line,
  column,
  stackTrace,
}: BlockingCode): Attributes {
  return {
    [ATTR_CODE_FUNCTION_NAME]: functionName,
    [ATTR_CODE_FILE_PATH]: file && toPath(file),
    [ATTR_CODE_LINE_NUMBER]: line,
    [ATTR_CODE_COLUMN_NUMBER]: column,
    [ATTR_CODE_STACKTRACE]: stackTrace,
  };
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
