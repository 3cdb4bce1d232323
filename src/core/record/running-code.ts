/** The ledger asks these about the code that runs, and about spans, on cold paths only. */
import { type Context, type Span, trace } from '@opentelemetry/api';
import type { Drain } from '../../block.ts';
import { expectsBlocks } from '../../otel/context-marks.ts';
import { isTracingSuppressed } from '../../otel/sdk-internals.ts';
import type { WaitedAndRan } from './exclude/run-delay.ts';

export interface RunningCode {
  /** The context of the async resource that is running; asked in its `after`. */
  readonly context: () => Context;
  readonly active: () => Context;
  /** Type of the async resource that is running; undefined if it is not known. */
  readonly resourceType: () => string | undefined;
  /** What it is if it runs in the drain after a callback; asked in its `before` or `after`. */
  readonly drain: () => Drain | undefined;
  /** The kernel's counts from `start` to `end`, a moment ago; undefined if they are unknown. */
  readonly threadTimes?: (
    start: number,
    end: number,
  ) => Pick<WaitedAndRan, 'ranAtMost' | 'atMost'> | undefined;
  readonly spans: SpanFacts;
}

export interface SpanFacts {
  /** Unix time in milliseconds at which a span started; NaN if the SDK does not say. */
  startOf(span: Span): number;
  /** Unix time in milliseconds at which a span ended; NaN if it is open, or if it is not known. */
  endOf(span: Span): number;
  /** The span around that of `context`; undefined if none around it began in this process. */
  parentOf(span: Span, context: Context): Span | undefined;
  /** Calls to that port of any host, that are open or ended lately. */
  callsTo(port: number): readonly Call[];
}

/** A call to another process. */
export interface Call {
  readonly span: Span;
  /** True if that process sends nothing but answers. */
  readonly isOwed: boolean;
}

/**
 * Whether a scope that has just ended is part of something with the same span: the active span is
 * its own, and it is not set apart as expected or as an exporter's. The two are one block.
 */
export function isInItsSpan(context: Context, active: Context): boolean {
  const span = trace.getSpan(context);
  return (
    span !== undefined &&
    trace.getSpan(active) === span &&
    expectsBlocks(active) === expectsBlocks(context) &&
    isTracingSuppressed(active) === isTracingSuppressed(context)
  );
}
