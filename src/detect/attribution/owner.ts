/**
 * Whose a callback is. The callbacks of a socket, a worker or an interval run in the context in
 * which that was made: with a pool, the context of a request that may have ended long ago.
 */
import { type Context, ROOT_CONTEXT, type Span, trace } from '@opentelemetry/api';
import { contextMadeBy } from '../../otel/made-by.ts';
import { isTracingSuppressed } from '../../otel/sdk-internals.ts';
import type { SpanFacts } from '../running-code.ts';
import type { Attributed } from './votes.ts';

/** What {@link Attributed.resourceType} has for `setInterval`, whose type is `Timeout`. */
export const INTERVAL = 'Interval';
const SOCKETS = ['TCPWRAP', 'TLSWrap'];

/** What {@link Attributed.resourceType} has for a socket, whose type is `type`. */
export const socketTo = (port: number, type: string) => `${type}:${port}`;

/** As async_hooks names it. */
export function typeNameOf(type: string | undefined): string | undefined {
  if (type === INTERVAL) return 'Timeout';
  return SOCKETS.find((socket) => type?.startsWith(socket)) ?? type;
}

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
 * The context that a callback's time, from `start` to `end`, is attributed to: its own, unless its
 * resource outlives requests. Then
 * 1. that of the one request that the peer of this socket has answered in that time, or whose
 *    answer is the only one that a database owes;
 * 2. none, with a link to the request that made it, if that had ended before the busy period began,
 *    or if only others await something of that peer.
 *
 * All times are Unix times.
 * @param since when the busy period began
 */
export function ownerOf(
  { context, resourceType = '' }: Attributed,
  since: number,
  spans: SpanFacts,
  start: number,
  end: number,
): Context {
  const isSocket = SOCKETS.includes(typeNameOf(resourceType) ?? '');
  if (!(isSocket || LASTING.has(resourceType)) || isTracingSuppressed(context)) return context;
  const own = trace.getSpan(context);
  const calls = isSocket ? spans.callsTo(Number(resourceType.split(':')[1])) : [];
  const current = calls.filter(
    ({ span }) => spans.startOf(span) < start && !(spans.endOf(span) < start),
  );
  const owed = current.filter(({ isOwed, span }) => isOwed || spans.endOf(span) <= end);
  const caller = owed[0]?.span;
  if (caller !== undefined && owed.every(({ span }) => isOfTrace(span, caller))) {
    const isItsOwn = own !== undefined && isOfTrace(own, caller);
    return isItsOwn ? context : trace.setSpan(ROOT_CONTEXT, caller);
  }
  if (own === undefined) return context;
  const isOfOthers = current.length > 0 && !current.some(({ span }) => isOfTrace(span, own));
  return isOfOthers || rootEnd(own, context, spans) < since ? contextMadeBy(own) : context;
}

const isOfTrace = (one: Span, other: Span) =>
  one.spanContext().traceId === other.spanContext().traceId;

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
