/**
 * Whose time is. Code runs in the context in which its timer, connection, worker or promise was
 * made, which is often that of a request that ended long ago: with a pool of connections, a
 * consumer that is started lazily, a poller, or what a request has left behind.
 */
import { type Context, ROOT_CONTEXT, type Span, trace } from '@opentelemetry/api';
import { contextMadeBy, expectsBlocks } from '../../../otel/context-marks.ts';
import { isTracingSuppressed } from '../../../otel/sdk-internals.ts';
import type { Call, SpanFacts } from '../running-code.ts';
import type { Attributed } from './votes.ts';

const SOCKETS = ['TCPWRAP', 'TLSWrap'];

/** {@link Attributed.resourceType} of a socket. */
export const socketTo = (port: number, type: string) => `${type}:${port}`;

/** The type that async_hooks has. */
export function typeNameOf(type: string | undefined): string | undefined {
  return SOCKETS.find((socket) => type?.startsWith(`${socket}:`)) ?? type;
}

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
   * The context that code's time, from `start` to `end`, is attributed to. First it is that of the
   * one request that the peer of this socket has answered in that time, or whose answer is the only
   * one that a database owes; else its own. Then it is none, with a link to the span of that,
   * 1. if the outermost span of this process around it had ended before the busy period began;
   * 2. or if only others await something of that peer.
   *
   * Times are Unix times.
   */
  of({ context, resourceType = '' }: Attributed, start: number, end: number): Context {
    // An exporter at work, and code that is expected to block, are what they are.
    if (isTracingSuppressed(context) || expectsBlocks(context)) return context;
    const own = trace.getSpan(context);
    const ownTrace = own?.spanContext().traceId;
    const calls = this.#callsTo(Number(resourceType.split(':')[1]));
    const current = calls.filter((call) => call.start < start && !(call.end < start));
    const owed = current.filter((call) => call.isOwed || call.end <= end);
    const [caller] = owed;
    const isAnswer = caller !== undefined && owed.every((c) => c.traceId === caller.traceId);
    const isOfCaller = isAnswer && caller.traceId !== ownTrace;
    const by = isOfCaller ? trace.setSpan(ROOT_CONTEXT, caller.span) : context;
    const span = isOfCaller ? caller.span : own;
    if (span === undefined) return by;
    const isOfOthers =
      !isAnswer && current.length > 0 && !current.some(({ traceId }) => traceId === ownTrace);
    const isOver = isOfOthers || rootEnd(span, by, this.spans) < this.since;
    return isOver ? contextMadeBy(span, by) : by;
  }

  /** Kept: a look through all open spans takes 50 to 90 µs, and a pile-up has up to 64 votes. */
  #callsTo(port: number): readonly TimedCall[] {
    if (Number.isNaN(port)) return [];
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
