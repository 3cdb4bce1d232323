/** The few things we ask of OpenTelemetry that its public API has no call for. Each has a way out where it is not there. */
import {
  type Context,
  type ContextManager,
  context,
  createContextKey,
  type HrTime,
  type Span,
} from '@opentelemetry/api';

/** The same registered symbol as `suppressTracing` of `@opentelemetry/core` uses, in both lines. */
const SUPPRESS_TRACING = createContextKey('OpenTelemetry SDK Context Key SUPPRESS_TRACING');

/** Whether spans made in this context are dropped: exporters at work, for one. */
export function isTracingSuppressed(ctx: Context): boolean {
  return ctx.getValue(SUPPRESS_TRACING) === true;
}

/** The context manager in force, or undefined where the api does not tell. */
export function currentContextManager(): ContextManager | undefined {
  return (context as unknown as { _getContextManager?: () => ContextManager })._getContextManager?.();
}

/** When a span of the SDK began; undefined for a remote span or another implementation. */
export function spanStartTime(span: Span): HrTime | undefined {
  const { startTime } = span as { startTime?: unknown };
  return Array.isArray(startTime) && startTime.length === 2 ? (startTime as HrTime) : undefined;
}

/** Unix milliseconds as HrTime: seconds and nanoseconds. */
export function toHrTime(epochMillis: number): HrTime {
  const seconds = Math.floor(epochMillis / 1000);
  return [seconds, Math.min(999_999_999, Math.round((epochMillis - seconds * 1000) * 1e6))];
}

export function addMillis([seconds, nanos]: HrTime, millis: number): HrTime {
  const total = nanos + Math.round(millis * 1e6);
  return [seconds + Math.floor(total / 1e9), total % 1e9];
}

export function hrTimeToMillis([seconds, nanos]: HrTime): number {
  return seconds * 1000 + nanos / 1e6;
}

export function isBefore(a: HrTime, b: HrTime): boolean {
  return a[0] < b[0] || (a[0] === b[0] && a[1] < b[1]);
}
