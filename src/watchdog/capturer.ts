/** Looks at what is running, inside it: its stack, its context, and what is known of the block so far. */
import {
  type Context,
  context,
  INVALID_SPANID,
  INVALID_TRACEID,
  type Span,
  type SpanContext,
  TraceFlags,
  trace,
} from '@opentelemetry/api';
import type { CodeLocation, StackFrame } from '../block.ts';
import { blockingFunctionIn, stackTraceOf } from '../code/blocking-function.ts';
import { isDebuggerPause } from '../exclude/debugger-pause.ts';
import type { IterationLedger } from '../loop/ledger.ts';
import { hrTimeToMillis } from '../otel/hr-time.ts';
import { isTracingSuppressed, resourceAttributes, spanStartTime } from '../otel/sdk-internals.ts';
import type { Clock } from '../support/clock.ts';
import type { CaptureReply } from './protocol.ts';
import { CAPTURE_URL, captureStack } from './stack.ts';

export class Capturer {
  constructor(
    private readonly ledger: IterationLedger,
    private readonly clock: Clock,
    private readonly resourceType: () => string | undefined,
    private readonly requireParentSpan: boolean,
  ) {}

  /**
   * @param stretchStart the stretch that is meant
   * @param requestedAt when the watchdog asked, a time of the clock
   * @returns undefined where that stretch is over
   */
  capture(stretchStart: number, requestedAt: number): CaptureReply | undefined {
    if (!this.ledger.isRunning(stretchStart)) return undefined;
    const sample = {
      requestedAt,
      time: this.clock.now(),
      context: context.active(),
      resourceType: this.resourceType(),
      frames: withoutCapture(captureStack()),
    };
    this.ledger.add(sample);
    return this.#reply(sample.context, blockingFunctionIn(sample), stackTraceOf(sample));
  }

  #reply(active: Context, location: CodeLocation | undefined, stackTrace: string): CaptureReply {
    const block = this.ledger.ongoing();
    const span = trace.getSpan(active);
    const parent = span?.spanContext();
    const hasParent = parent !== undefined && isValid(parent);
    const resource = resourceAttributes(span);
    return {
      start: block.start,
      epochMillis: this.clock.epoch(0),
      startTimeMillis: Math.max(this.clock.epoch(block.start), startOf(span)),
      ...(location !== undefined && { ...definedOf(location), stackTrace }),
      ...(hasParent && { traceId: parent.traceId, spanId: parent.spanId, traceFlags: parent.traceFlags }),
      spanUnwanted:
        isTracingSuppressed(active) ||
        (hasParent ? (parent.traceFlags & TraceFlags.SAMPLED) === 0 : this.requireParentSpan),
      debuggerPause: isDebuggerPause({ start: block.start, end: this.clock.now(), cpu: block.cpu }),
      block: {
        kind: block.kind,
        callbacks: block.callbacks,
        ...(block.resourceType !== undefined && { resourceType: block.resourceType }),
      },
      ...(resource !== undefined && { resource }),
    };
  }
}

/** Not the API's own check: whether that runs a regular expression, which must not happen here, is up to its version. */
function isValid({ traceId, spanId }: SpanContext): boolean {
  return (
    traceId.length === 32 && traceId !== INVALID_TRACEID && spanId.length === 16 && spanId !== INVALID_SPANID
  );
}

function startOf(span: Span | undefined): number {
  const start = span && spanStartTime(span);
  return start === undefined ? Number.NEGATIVE_INFINITY : hrTimeToMillis(start);
}

/** Without what is undefined, which JSON would leave out too. */
function definedOf(location: CodeLocation): Partial<CaptureReply> & { functionName: string } {
  const { functionName, file, line, column } = location;
  return {
    functionName,
    ...(file !== undefined && { file }),
    ...(line !== undefined && { line }),
    ...(column !== undefined && { column }),
  };
}

/** The frames outside the capture itself, which runs inside them. */
function withoutCapture(frames: StackFrame[]): StackFrame[] {
  const last = frames.findLastIndex(({ file }) => file === CAPTURE_URL);
  return frames.slice(last + 1);
}
