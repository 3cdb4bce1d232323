/**
 * The requests of Node.js' own HTTP servers, for a thread without an SDK: each has an entry span
 * that is never exported, so that blocks and waits are attributed as with an SDK.
 *
 * Guarantees: nothing is done while there is an SDK. The path of a request is in none of its names.
 */
import { AsyncLocalStorage, executionAsyncId, triggerAsyncId } from 'node:async_hooks';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  type Attributes,
  type HrTime,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  TraceFlags,
  trace,
} from '@opentelemetry/api';
import { requests as requestChannel } from '../../channels.ts';
import { findContextBy } from '../../otel/active-context.ts';
import { apiRegistry } from '../../otel/api-registry.ts';
import { addMillis, toHrTime } from '../../otel/hr-time.ts';
import { shapeOf } from '../../otel/operation.ts';
import { attempt } from '../../support/guard.ts';
import { now } from '../../support/time.ts';
import { type EndingSpan, EventLoopSpanProcessor } from './event-loop-span-processor.ts';
import { type ExpressRequest, mountOf } from './express-mount.ts';
import { type StallSession, stallsOfThread } from './stalls.ts';

const STARTED = 'http.server.request.start';
const FINISHED = 'http.server.response.finish';

const MIN_SWEPT = 64;
/** More than one of them in a block, and it is nobody's. */
const MAX_ENDED = 4;
/** Without async_hooks, it costs a request next to nothing: from Node.js 24 on. */
const isStorageCheap = !('_enable' in AsyncLocalStorage.prototype);

interface Started {
  readonly request: IncomingMessage & ExpressRequest;
  readonly response: ServerResponse;
}

/** A request that has no response yet. */
class OpenRequest {
  readonly startedAt = now();
  readonly connectionId = executionAsyncId();
  /** Made when a block may have to do with it. */
  #span: RequestSpan | undefined;
  /** The processor knows its span. */
  isWatched = false;
  /** Undefined while it is open. */
  endedAt: number | undefined;
  #method = '';
  #route = '';

  /** @param started undefined when it has ended: a timer that it left keeps its context for long */
  constructor(public started: Started | undefined) {}

  get span(): RequestSpan {
    this.#span ??= new RequestSpan(this);
    return this.#span;
  }

  get method(): string {
    return this.started?.request.method ?? this.#method;
  }

  /** That of Express; else the path's shape. */
  get route(): string {
    if (this.started === undefined) return this.#route;
    const { request } = this.started;
    const path = request.route?.path;
    if (typeof path !== 'string') return shapeOf(request.url ?? '');
    const mount = mountOf(request);
    return mount !== '' && path === '/' ? mount : mount + path;
  }

  /** Keeps two strings of it. */
  end(time = now()): void {
    this.endedAt = time;
    this.#method = this.method;
    this.#route = this.route;
    this.started = undefined;
  }
}

/** As much of a span as is read of one; `_performanceStartTime` is that of the SDK's spans. */
class RequestSpan {
  static #count = 0;
  readonly kind = SpanKind.SERVER;
  readonly links: [] = [];
  readonly _performanceStartTime: number;
  readonly _startTimeProvided = false;
  readonly startTime: HrTime;
  readonly context = trace.setSpan(ROOT_CONTEXT, this as unknown as Span);
  readonly #ids: ReturnType<Span['spanContext']>;

  constructor(readonly open: OpenRequest) {
    this._performanceStartTime = open.startedAt;
    this.startTime = unixTimeOf(open.startedAt, stallsOfThread().session);
    // These ids are not valid: there is no trace.
    const id = `request ${RequestSpan.#count++}`;
    this.#ids = { traceId: id, spanId: id, traceFlags: TraceFlags.NONE };
  }

  get attributes(): Attributes {
    return { 'http.request.method': this.open.method, 'http.route': this.open.route };
  }

  get ended(): boolean {
    return this.open.endedAt !== undefined;
  }

  get endTime(): HrTime {
    const { endedAt, startedAt } = this.open;
    return addMillis(this.startTime, (endedAt ?? startedAt) - startedAt);
  }

  spanContext(): ReturnType<Span['spanContext']> {
    return this.#ids;
  }

  isRecording(): boolean {
    return !this.ended;
  }

  setAttributes(): void {}
  addLink(): void {}
}

const unixTimeOf = (time: number, session: StallSession | undefined) =>
  toHrTime(session?.clock.epoch(time) ?? 0);

export class HttpRequests {
  readonly #open = new Map<Started['request'], OpenRequest>();
  readonly #storage = isStorageCheap ? new AsyncLocalStorage<OpenRequest>() : undefined;
  readonly #stalls = stallsOfThread();
  #processor: EventLoopSpanProcessor | undefined;
  #latest: OpenRequest | undefined;
  /** Those that have ended last. */
  readonly #ended: OpenRequest[] = [];
  /** Requests that may begin until those are looked for that nobody ends. */
  #untilSweep = MIN_SWEPT;

  start(): void {
    this.#processor = new EventLoopSpanProcessor();
    subscribe(STARTED, this.#onStart);
    subscribe(FINISHED, this.#onFinish);
    findContextBy({
      running: () => this.#running()?.span.context,
      answeredIn: (start, end) => this.#answeredIn(start, end)?.span.context,
    });
  }

  stop(): void {
    unsubscribe(STARTED, this.#onStart);
    unsubscribe(FINISHED, this.#onFinish);
    findContextBy(undefined);
    this.#storage?.disable();
    this.#open.clear();
    this.#ended.length = 0;
    this.#latest = undefined;
    void this.#processor?.shutdown();
    this.#processor = undefined;
  }

  /** A block has just ended: it may have kept all of them waiting. */
  watchAll(): void {
    for (const open of this.#open.values()) this.#watch(open);
  }

  /**
   * Hot: with {@link #onFinish} 0.4 to 0.6 µs (Node.js 20 to 26). What a subscriber throws is an
   * uncaught exception.
   */
  readonly #onStart = (message: unknown): void => {
    try {
      if (apiRegistry().context !== undefined) {
        this.stop();
        return;
      }
      const { request, response } = message as Started;
      const open = new OpenRequest({ request, response });
      this.#open.set(request, open);
      this.#latest = open;
      if (this.#storage !== undefined) this.#enter(open, request);
      this.#stalls.begin();
      if (this.#stalls.mayHaveQueued) this.#watch(open);
      if (--this.#untilSweep === 0) this.#sweep();
    } catch {
      attempt(() => this.stop());
    }
  };

  /**
   * Node.js pushes the chunks of a body, and its end, in the context of the connection: what their
   * listeners start would have no request.
   */
  #enter(open: OpenRequest, request: IncomingMessage): void {
    const enter = () => void attempt(() => this.#storage?.enterWith(open));
    enter();
    const { headers, push } = request;
    if ((headers['content-length'] ?? headers['transfer-encoding']) === undefined) return;
    const value = function (this: IncomingMessage, chunk: unknown, encoding?: BufferEncoding) {
      enter();
      return push.call(this, chunk, encoding);
    };
    Object.defineProperty(request, 'push', { value, configurable: true, writable: true });
  }

  /** Hot, as above. */
  readonly #onFinish = (message: unknown): void => {
    try {
      const open = this.#open.get((message as Started).request);
      if (open !== undefined) this.#end(open);
    } catch {
      attempt(() => this.stop());
    }
  };

  /** From here on it costs what a span of an SDK does. */
  #watch(open: OpenRequest): void {
    if (open.isWatched) return;
    open.isWatched = true;
    this.#stalls.started(open.span as unknown as Span, ROOT_CONTEXT);
    // The client may go away.
    open.started?.response.once('close', () => attempt(() => this.#end(open)));
  }

  #end(open: OpenRequest): void {
    if (open.started === undefined || !this.#open.delete(open.started.request)) return;
    const time = now();
    const { session } = this.#stalls;
    if (!open.isWatched && session?.isSurelyShort() === false) this.#watch(open);
    open.end(time);
    // With a storage it is known whose code runs.
    if (this.#storage === undefined && this.#ended.unshift(open) > MAX_ENDED) this.#ended.pop();
    if (open.isWatched) {
      this.#processor?.onEnding(open.span as unknown as Span & EndingSpan);
    } else if (requestChannel.hasSubscribers) {
      requestChannel.publish({
        route: `${open.method} ${open.route}`,
        startTimeMillis: session?.clock.epoch(open.startedAt) ?? 0,
        durationMillis: time - open.startedAt,
        stalledMillis: 0,
        queuedMillis: 0,
        functions: [],
        waits: () => [],
      });
    }
  }

  /**
   * Forgets those whose connection is gone. A response that waits behind another one is not closed
   * with it before Node.js 24.
   */
  #sweep(): void {
    for (const [request, open] of this.#open) {
      if (!request.socket.destroyed) continue;
      if (open.isWatched) this.#end(open);
      else {
        this.#open.delete(request);
        open.end();
      }
    }
    this.#untilSweep = Math.max(MIN_SWEPT, this.#open.size);
  }

  /** @returns undefined if there are several */
  #answeredIn(start: number, end: number): OpenRequest | undefined {
    const isIn = ({ endedAt = 0 }: OpenRequest) => endedAt >= start && endedAt <= end;
    const [one, other] = this.#ended.filter(isIn);
    return other === undefined ? one : undefined;
  }

  /**
   * The one that runs: that of the asynchronous context; else the latest of the connection that is
   * read, or whose reading caused what runs; else, in a promise, one that has just begun. Inside
   * stack samples.
   */
  #running(): OpenRequest | undefined {
    const stored = this.#storage?.getStore();
    if (stored !== undefined) return stored;
    const id = executionAsyncId();
    if (id === 0) {
      const taskStart = this.#stalls.session?.taskStart() ?? Number.NaN;
      return this.#latest && this.#latest.startedAt >= taskStart ? this.#latest : undefined;
    }
    const cause = triggerAsyncId();
    let running: OpenRequest | undefined;
    for (const open of this.#open.values())
      if (open.connectionId === id || open.connectionId === cause) running = open;
    return running;
  }
}
