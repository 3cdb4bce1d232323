/**
 * Whose a callback is. The callbacks of a socket, a worker or an interval run in the context in
 * which that was made: with a pool, the context of a request that may have ended long ago.
 */
import { type Context, ROOT_CONTEXT, type Span, trace } from '@opentelemetry/api';
import { contextMadeBy, expectsBlocks } from '../../otel/context-marks.ts';
import { isTracingSuppressed } from '../../otel/sdk-internals.ts';
import type { Call, SpanFacts } from '../running-code.ts';
import type { Attributed } from './votes.ts';

/** The type that {@link Attributed.resourceType} has for `setInterval`, in place of `Timeout`. */
export const INTERVAL = 'Interval';
const SOCKETS = ['TCPWRAP', 'TLSWrap'];

/** {@link Attributed.resourceType} of a socket. */
export const socketTo = (port: number, type: string) => `${type}:${port}`;

/** The type that async_hooks has. */
export function typeNameOf(type: string | undefined): string | undefined {
  if (type === INTERVAL) return 'Timeout';
  return SOCKETS.find((socket) => type?.startsWith(`${socket}:`)) ?? type;
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
  // A nextTick runs in the iteration in which it is made, so no request that had ended made it.
  'TickObject',
]);

/** Spans around a span. */
const MAX_DEPTH = 128;

/** Knows the spans at the moment at which a block, or a pile-up that goes on, is attributed. */
export class Owners {
  readonly #calls = new Map<number, readonly TimedCall[]>();

  /** @param since Unix time at which the busy period began */
  constructor(
    private readonly since: number,
    private readonly spans: SpanFacts,
  ) {}

  /**
   * The context that a callback's time, from `start` to `end`, is attributed to: its own, unless
   * its resource outlives requests. Then
   * 1. that of the one request that the peer of this socket has answered in that time, or whose
   *    answer is the only one that a database owes;
   * 2. none, with a link to the request that made it, if that had ended before the busy period
   *    began, or if only others await something of that peer.
   *
   * Times are Unix times.
   */
  of({ context, resourceType = '' }: Attributed, start: number, end: number): Context {
    const isSocket = SOCKETS.includes(typeNameOf(resourceType) ?? '');
    if (!(isSocket || LASTING.has(resourceType))) return context;
    // An exporter at work, and code that is expected to block, are what they are.
    if (isTracingSuppressed(context) || expectsBlocks(context)) return context;
    const own = trace.getSpan(context);
    const ownTrace = own?.spanContext().traceId;
    const calls = isSocket ? this.#callsTo(Number(resourceType.split(':')[1])) : [];
    const current = calls.filter((call) => call.start < start && !(call.end < start));
    const owed = current.filter((call) => call.isOwed || call.end <= end);
    const [caller] = owed;
    if (caller !== undefined && owed.every(({ traceId }) => traceId === caller.traceId))
      return caller.traceId === ownTrace ? context : trace.setSpan(ROOT_CONTEXT, caller.span);
    if (own === undefined) return context;
    const isOfOthers = current.length > 0 && !current.some(({ traceId }) => traceId === ownTrace);
    const isOver = isOfOthers || rootEnd(own, context, this.spans) < this.since;
    return isOver ? contextMadeBy(own) : context;
  }

  /** Kept: a look through all open spans takes 50 to 90 µs, and a pile-up has up to 64 votes. */
  #callsTo(port: number): readonly TimedCall[] {
    let calls = this.#calls.get(port);
    if (calls === undefined) {
      calls = this.spans.callsTo(port).map((call) => ({
        ...call,
        traceId: call.span.spanContext().traceId,
        start: this.spans.startOf(call.span),
        end: this.spans.endOf(call.span),
      }));
      this.#calls.set(port, calls);
    }
    return calls;
  }
}

interface TimedCall extends Call {
  readonly traceId: string;
  readonly start: number;
  /** NaN if it is open. */
  readonly end: number;
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
