/** What an outermost callback of async_hooks is to the ledger. */

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
/** This package's tick: it begins a task, and is no callback of the application's. */
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
