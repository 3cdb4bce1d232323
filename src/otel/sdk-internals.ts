/**
 * What this package reads of OpenTelemetry without a call of its public API. If what a function
 * reads is not there, the function has a result for that.
 */
import {
  type Attributes,
  type AttributeValue,
  type Context,
  type ContextManager,
  context,
  createContextKey,
  type HrTime,
  type Span,
  type SpanContext,
  trace,
} from '@opentelemetry/api';
import { cut, MAX_FILE_LENGTH } from '../support/bounded.ts';
import type { Clock } from '../support/clock.ts';
import { hrTimeToMillis, toHrTime } from './hr-time.ts';

/** The same registered symbol as `suppressTracing` of `@opentelemetry/core` uses, in both lines. */
const SUPPRESS_TRACING = createContextKey('OpenTelemetry SDK Context Key SUPPRESS_TRACING');

/** The same for `getRPCMetadata`, by which HTTP instrumentations and frameworks pass the route. */
const RPC_METADATA = createContextKey('OpenTelemetry SDK Context Key RPC_METADATA');

/** `span` is the entry span. */
export function rpcMetadataIn(ctx: Context) {
  return ctx.getValue(RPC_METADATA) as
    | { readonly route?: unknown; readonly span?: Span & { readonly attributes?: Attributes } }
    | undefined;
}

/** Whether spans made in this context are dropped: exporters at work, for one. */
export function isTracingSuppressed(ctx: Context): boolean {
  return ctx.getValue(SUPPRESS_TRACING) === true;
}

/** Runs `action` in a context in which instrumentations make no spans. */
export function withoutTracing<Result>(action: () => Result): Result {
  return context.with(context.active().setValue(SUPPRESS_TRACING, true), action);
}

/** The context manager in force, or undefined if the api has no call for it. */
export function currentContextManager(): ContextManager | undefined {
  return (
    context as unknown as { _getContextManager?: () => ContextManager }
  )._getContextManager?.();
}

/**
 * When a span of the SDK, of `dd-trace` or of Sentry began; undefined for a remote span or another
 * implementation.
 */
export function spanStartTime(span: Span): HrTime | undefined {
  const { startTime, _startTime, _ddSpan } = span as {
    startTime?: unknown;
    /** Sentry 11: seconds. */
    _startTime?: unknown;
    /**
     * `dd-trace` 5 and 6: milliseconds, in the span behind what its context manager has for active.
     */
    _ddSpan?: { _startTime?: unknown } | null;
  };
  if (Array.isArray(startTime)) return startTime.length === 2 ? (startTime as HrTime) : undefined;
  if (typeof _startTime === 'number') return toHrTime(_startTime * 1e3);
  if (typeof _ddSpan?._startTime === 'number') return toHrTime(_ddSpan._startTime);
  return undefined;
}

/**
 * Like {@link spanStartTime} of a span of the SDK, to the microsecond, as a time of
 * `performance.now()`: its Unix time is cut to whole milliseconds. Undefined if the start was
 * given.
 */
export function spanStartedAt(span: Span): number | undefined {
  const { _performanceStartTime, _startTimeProvided } = span as {
    _performanceStartTime?: unknown;
    _startTimeProvided?: unknown;
  };
  return typeof _performanceStartTime === 'number' && _startTimeProvided === false
    ? _performanceStartTime
    : undefined;
}

/**
 * What has to be added to the Unix times of a span so that they are those of `clock`: by how much
 * the wall clock was stepped since the span began, and what the SDK has cut from its start, in
 * milliseconds. 0 if the span does not know when it began on the monotonic clock.
 */
export function clockStepOf(span: Span, clock: Pick<Clock, 'epoch'>): number {
  const startedAt = spanStartedAt(span);
  const start = spanStartTime(span);
  if (startedAt === undefined || start === undefined) return 0;
  return clock.epoch(startedAt) - hrTimeToMillis(start);
}

/** When a span of the SDK ended; undefined while it is open, and for another implementation. */
export function spanEndTime(span: Span): HrTime | undefined {
  const { ended, endTime } = span as { ended?: unknown; endTime?: unknown };
  return ended === true && Array.isArray(endTime) ? (endTime as HrTime) : undefined;
}

/**
 * The span around a span of the SDK, if it began in this process: the request's, which the HTTP
 * instrumentation keeps in the context; else one that has only its ids, and does not start later.
 */
export function localParentOf(span: Span, ctx: Context): Span | undefined {
  // Of the SDK from 2.0 on.
  const { parentSpanContext: parent } = span as { parentSpanContext?: SpanContext };
  if (parent === undefined || parent.isRemote === true) return undefined;
  const entry = rpcMetadataIn(ctx)?.span;
  const { traceId, spanId } = span.spanContext();
  const entryContext = entry?.spanContext?.();
  if (entryContext?.traceId === traceId && entryContext.spanId !== spanId) return entry;
  return Object.assign(trace.wrapSpanContext(parent), { startTime: spanStartTime(span) });
}

/** Name of the instrumentation that made a span of the SDK (2.0 and later). */
export function instrumentationScopeOf(span: Span): string | undefined {
  return (span as { instrumentationScope?: { name?: string } }).instrumentationScope?.name;
}

/** The API has one; a second copy of it, or a distribution, may add another. */
const MAX_DELEGATES = 8;

/** The provider that the API's one stands for; itself if it is none of those. */
export function sdkOf<Provider extends object>(given: Provider): Provider {
  type Proxy = Provider & { getDelegate?(): Proxy };
  let provider: Proxy = given;
  // Bounded, since a provider may return itself.
  for (let i = 0; i < MAX_DELEGATES && provider.getDelegate !== undefined; i++) {
    provider = provider.getDelegate();
  }
  return provider;
}

/** The bound of a resource's attributes, and of the values of one. */
const MAX_ATTRIBUTES = 128;

type Resource = {
  attributes?: Attributes;
  asyncAttributesPending?: boolean;
  getRawAttributes?(): [
    string,
    AttributeValue | PromiseLike<AttributeValue | undefined> | undefined,
  ][];
};

/**
 * Attributes of the resource that this span's SDK was given, else those of the global tracer
 * provider; undefined if neither has one. Until the SDK's first export those that detectors are
 * still finding are missing; service.name is not one of them.
 */
export function resourceAttributes(span: Span | undefined): Attributes | undefined {
  const provider = sdkOf(trace.getTracerProvider()) as {
    _resource?: Resource;
    _config?: { resource?: Resource };
  };
  const resource =
    (span as { resource?: Resource } | undefined)?.resource ??
    provider._resource ??
    provider._config?.resource;
  // The SDK logs an error if `attributes` is asked for too early.
  const attributes =
    resource?.asyncAttributesPending === true ? settledAttributes(resource) : resource?.attributes;
  return attributes && bounded(attributes);
}

/** `process.command_args` may have a whole program. */
function bounded(attributes: Attributes): Attributes {
  const short: Attributes = {};
  const shorten = <Value>(value: Value) =>
    typeof value === 'string' ? cut(value, MAX_FILE_LENGTH) : value;
  for (const [name, value] of Object.entries(attributes).slice(0, MAX_ATTRIBUTES))
    short[name] = Array.isArray(value)
      ? (value.slice(0, MAX_ATTRIBUTES).map(shorten) as AttributeValue)
      : shorten(value);
  return short;
}

/** Reads them as the SDK does: the first value of a name counts. */
function settledAttributes(resource: Resource): Attributes {
  const settled: Attributes = {};
  for (const [name, value] of resource.getRawAttributes?.() ?? []) {
    if (typeof (value as PromiseLike<unknown> | undefined)?.then === 'function') continue;
    settled[name] ??= value as AttributeValue | undefined;
  }
  return settled;
}
