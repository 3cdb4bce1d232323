/**
 * Classes of outermost callbacks of async_hooks, and how deep callbacks are nested. Nothing is kept
 * per resource.
 */
import { type Context, trace } from '@opentelemetry/api';
import { expectsBlocks } from '../otel/context-marks.ts';
import { isTracingSuppressed } from '../otel/sdk-internals.ts';
import type { Attributed } from './attribution/votes.ts';
import type { RunningCode } from './running-code.ts';

export const CALLBACK = 0;
/** A nextTick: runs in the drain of the callback before it. */
export const TICK = 1;
/** A promise reaction or a queueMicrotask: runs in a drain, is not counted. */
export const REACTION = 2;
/**
 * An AsyncResource entered from a reaction without a hook: as REACTION, but one synchronous run.
 */
export const RESOURCE_SCOPE = 3;
/**
 * A callback of an HTTP server's parser. A message that comes at once has up to three in a row, and
 * Node.js drains after the last one only: they are one task (`kSkipTaskQueues` in
 * `node_http_parser.cc`, Node.js 20 to 26).
 */
export const MESSAGE = 4;
/** The tick of this package begins a task, and is no callback of the application's. */
export const OWN = 5;
/** The callback in which the hooks were armed: its class is asked for at its end. */
export const UNKNOWN = 6;

export type CallbackClass =
  | typeof CALLBACK
  | typeof TICK
  | typeof REACTION
  | typeof RESOURCE_SCOPE
  | typeof MESSAGE
  | typeof OWN
  | typeof UNKNOWN;

/** Headers, end, and the end of the reading. What comes with a body is drained piece by piece. */
const MAX_MESSAGE_CALLBACKS = 3;

/** Finds the callbacks of an HTTP server's parser that are of one message, and so of one task. */
export class ParserMessages {
  #callbacks = 0;
  /** The async id of the parser. */
  #parser = 0;

  /**
   * A callback of a parser begins.
   * @param previous class of the callback before it in this iteration; undefined if there is none
   * @returns whether it goes on with the message of that one
   */
  continues(previous: CallbackClass | undefined, parser: number): boolean {
    const isSame = previous === MESSAGE && parser === this.#parser;
    this.#parser = parser;
    this.#callbacks = isSame ? this.#callbacks + 1 : 1;
    return isSame && this.#callbacks <= MAX_MESSAGE_CALLBACKS;
  }
}

/** Callbacks deeper than this count for the one around them. */
export const MAX_NESTED = 32;

/** How deep callbacks are nested, and when the inner ones began. */
export class CallbackStack {
  depth = 0;
  readonly #starts = new Float64Array(MAX_NESTED + 1).fill(Number.NaN);
  readonly #voted = new Float64Array(MAX_NESTED + 1);

  /** Hot. Counts a `before`; true if it is an outermost one. */
  enter(): boolean {
    return this.depth++ === 0;
  }

  /**
   * Hot. Counts an `after`. Returns the number of callbacks left around it, or -1 if its `before`
   * was not called: the hook was enabled inside a callback.
   */
  leave(): number {
    return this.depth === 0 ? -1 : --this.depth;
  }

  /** The innermost callback began at `t`, when `voted` milliseconds had been voted for. */
  begin(t: number, voted: number): void {
    if (this.depth > MAX_NESTED) return;
    this.#starts[this.depth] = t;
    this.#voted[this.depth] = voted;
  }

  startOf(depth: number): number {
    return this.#starts[depth] as number;
  }

  votedBefore(depth: number): number {
    return this.#voted[depth] as number;
  }

  /** Sets the depth to what it is known to be. Returns whether it was another one. */
  resync(depth: number): boolean {
    const isOther = this.depth !== depth;
    this.depth = depth;
    return isOther;
  }

  /**
   * Whether a scope that has just ended is part of a scope or callback with the same span: the
   * active span is its own, and it is not set apart as expected or as an exporter's. The two are
   * one block.
   */
  isInItsSpan(context: Context, code: RunningCode): boolean {
    const span = trace.getSpan(context);
    if (this.depth === 0 || span === undefined) return false;
    const active = code.active();
    return (
      trace.getSpan(active) === span &&
      expectsBlocks(active) === expectsBlocks(context) &&
      isTracingSuppressed(active) === isTracingSuppressed(context)
    );
  }

  /** Asking for the context may run a callback, which is made too deep to count. */
  running(code: RunningCode): Attributed {
    this.depth += MAX_NESTED + 1;
    try {
      return { context: code.context(), resourceType: code.resourceType() };
    } finally {
      this.depth -= MAX_NESTED + 1;
    }
  }
}
