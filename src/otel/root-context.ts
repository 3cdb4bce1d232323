/** Timers and threads that live for long would keep the application's context alive. */
import { AsyncResource } from 'node:async_hooks';
import { context, ROOT_CONTEXT } from '@opentelemetry/api';

// Made when this module is loaded, it has no store of an AsyncLocalStorage that is run later.
const root = new AsyncResource('EventLoopRootContext');

/**
 * Timers, threads and promises that `action` makes keep no store of an AsyncLocalStorage. For
 * context managers without one, `context.with` does the same for the context.
 */
export function inRootContext<Result>(action: () => Result): Result {
  return root.runInAsyncScope(() => context.with(ROOT_CONTEXT, action));
}
