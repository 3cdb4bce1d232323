/**
 * Whose a callback is. The callbacks of a socket, a worker or an interval run in the context in
 * which that was made: with a pool, the context of a request that may have ended long ago.
 */
import { type Context, type Span, trace } from '@opentelemetry/api';
import { contextMadeBy } from '../../otel/made-by.ts';
import { isTracingSuppressed } from '../../otel/sdk-internals.ts';
import type { SpanFacts } from '../running-code.ts';
import type { Attributed } from './votes.ts';

/** What {@link Attributed.resourceType} has for `setInterval`, whose type is `Timeout`. */
export const INTERVAL = 'Interval';

/** As async_hooks names it. */
export const typeNameOf = (type: string | undefined) => (type === INTERVAL ? 'Timeout' : type);

/** Async resources whose callbacks come for longer than the request that made them. */
const LASTING = new Set([
  'FSEVENTWRAP',
  'HTTP2SESSION',
  'HTTPINCOMINGMESSAGE',
  'MESSAGEPORT',
  'PIPEWRAP',
  'PROCESSWRAP',
  'SIGNALWRAP',
  'STATWATCHER',
  'TCPWRAP',
  'TLSWrap',
  'TTYWRAP',
  'UDPWRAP',
  'WORKER',
  INTERVAL,
  // It runs in the iteration in which it is made: a request that had ended before has not made it.
  'TickObject',
]);

/** Spans around a span. */
const MAX_DEPTH = 128;

/**
 * The context that a callback's time is attributed to: its own, unless its resource outlives
 * requests, and the local root of its span had ended before the busy period began.
 * @param since Unix time at which the busy period began
 */
export function ownerOf(by: Attributed, since: number, spans: SpanFacts): Context {
  const { context, resourceType } = by;
  if (resourceType === undefined || !LASTING.has(resourceType)) return context;
  const span = trace.getSpan(context);
  if (span === undefined || isTracingSuppressed(context)) return context;
  return rootEnd(span, context, spans) < since ? contextMadeBy(span) : context;
}

/** When the outermost span around a span ended of which that is known; NaN if it is open. */
function rootEnd(span: Span, context: Context, spans: SpanFacts): number {
  let end = Number.NaN;
  let each: Span | undefined = span;
  for (let depth = 0; each !== undefined && depth < MAX_DEPTH; depth++) {
    const known = spans.endOf(each);
    // A span of which only the ids are known neither records nor has an end.
    if (each.isRecording() || !Number.isNaN(known)) end = known;
    each = spans.parentOf(each, context);
  }
  return end;
}
