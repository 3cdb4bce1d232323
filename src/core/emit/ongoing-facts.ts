/**
 * What is known of a block that has not ended, as plain data: copied on the main thread, inside the
 * block; it crosses to the watchdog thread as JSON, and the code is named there.
 */
import {
  INVALID_SPANID,
  INVALID_TRACEID,
  type Span,
  type SpanContext,
  TraceFlags,
  trace,
} from '@opentelemetry/api';
import type { NativeCall, OngoingBlock, StackSample } from '../../block.ts';
import { expectsBlocks } from '../../otel/context-marks.ts';
import { hrTimeToMillis } from '../../otel/hr-time.ts';
import {
  isTracingSuppressed,
  resourceAttributes,
  spanStartTime,
} from '../../otel/sdk-internals.ts';
import type { Clock } from '../../support/clock.ts';
import type { BlockingCode, BlockKind } from '../../types.ts';
import { placeOfSample } from '../explain/name/describe-code.ts';
import type { OriginOf } from '../explain/name/in-app.ts';
import { hasNamedCode } from '../explain/name/stack-path.ts';
import type { CaptureReply } from '../sample/protocol.ts';

export interface OngoingFacts {
  /** Unix time in milliseconds of 0 on the main thread's `performance.now()`. */
  readonly epochMillis: number;
  /** Unix time in milliseconds at which its span begins: not before its parent. */
  readonly startTimeMillis: number;
  readonly kind?: BlockKind;
  readonly callbacks: number;
  readonly asyncResourceType?: string;
  readonly code?: BlockingCode;
  readonly nativeCall?: NativeCall;
  readonly parent?: Pick<SpanContext, 'traceId' | 'spanId' | 'traceFlags'>;
  /** The trace is not sampled, tracing is suppressed, or a parent is required and there is none. */
  readonly spanUnwanted: boolean;
  /** Tracing is suppressed: an exporter at work, for one. */
  readonly eventUnwanted: boolean;
  /** `expectBlock` runs it: nothing is reported. */
  readonly isExpected: boolean;
  /** Attributes of the resource of the application's spans. */
  readonly resource?: Record<string, unknown>;
}

/** What crosses to the watchdog thread: the code is named there. */
export interface UnnamedFacts extends Omit<OngoingFacts, 'code'> {
  /** A stack as plain data, with what says how late it came. */
  readonly sample?: Pick<StackSample, 'requestedAt' | 'time' | 'frames'>;
}

/**
 * What the report of an ongoing block needs to know, copied. Runs inside the code that blocks: no
 * function of the application's may run in it, and no regular expression: see `sample/stack.ts`.
 */
export function ongoingReply(
  sample: StackSample,
  block: OngoingBlock,
  clock: Clock,
  requireParentSpan: boolean,
): CaptureReply & { readonly facts: UnnamedFacts } {
  const { requestedAt, time, frames, nativeCall } = sample;
  const isCodeKnown = hasNamedCode(frames);
  return {
    start: block.start,
    isCodeKnown,
    facts: {
      ...factsOf(sample, block, clock, requireParentSpan),
      ...(isCodeKnown && { sample: { requestedAt, time, frames } }),
      ...(nativeCall !== undefined && { nativeCall }),
    },
  };
}

/** Names the code. Call it in the watchdog thread. */
export function namedFacts({ sample, ...facts }: UnnamedFacts, originOf: OriginOf): OngoingFacts {
  const code = sample && placeOfSample(sample, originOf);
  return code === undefined ? facts : { ...facts, code };
}

function factsOf(
  { context: active }: StackSample,
  { start, kind, callbacks, resourceType }: OngoingBlock,
  clock: Clock,
  requireParentSpan: boolean,
): UnnamedFacts {
  const span = trace.getSpan(active);
  const parent = parentOf(span);
  const resource = resourceAttributes(span);
  const isSuppressed = isTracingSuppressed(active);
  return {
    epochMillis: clock.epoch(0),
    startTimeMillis: Math.max(clock.epoch(start), startOf(span)),
    ...(kind !== undefined && { kind }),
    callbacks,
    ...(resourceType !== undefined && { asyncResourceType: resourceType }),
    ...(parent !== undefined && { parent }),
    spanUnwanted:
      isSuppressed ||
      (parent === undefined ? requireParentSpan : (parent.traceFlags & TraceFlags.SAMPLED) === 0),
    eventUnwanted: isSuppressed,
    isExpected: expectsBlocks(active),
    ...(resource !== undefined && { resource }),
  };
}

/** Without the API's own check, which runs a regular expression in some versions. */
function parentOf(span: Span | undefined): OngoingFacts['parent'] {
  if (span === undefined) return undefined;
  const { traceId, spanId, traceFlags } = span.spanContext();
  const isValid =
    traceId.length === 32 &&
    traceId !== INVALID_TRACEID &&
    spanId.length === 16 &&
    spanId !== INVALID_SPANID;
  return isValid ? { traceId, spanId, traceFlags } : undefined;
}

function startOf(span: Span | undefined): number {
  const start = span && spanStartTime(span);
  return start === undefined ? Number.NEGATIVE_INFINITY : hrTimeToMillis(start);
}
