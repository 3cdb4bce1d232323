/**
 * Feeds the ledger from async_hooks: the begin and end of every outermost callback. Nothing is kept per resource.
 *
 * Cost above an empty hook: see `bench/README.md` (`npm run bench -- hooks`).
 */
import { type AsyncHook, createHook, executionAsyncResource, type HookCallbacks } from 'node:async_hooks';
import type { Heartbeat } from '../lag/lag-sampler.ts';
import type { IterationLedger } from '../loop/ledger.ts';
import type { AsyncHooksMode } from '../types.ts';
import { classify } from './resource-classes.ts';

type HookOptions = HookCallbacks & { trackPromises?: boolean };

/**
 * Whether `createHook` honours `trackPromises: false` (Node.js 24.14 and 25.6; ignored before): seen by whether a hook that
 * asks for no promises is told of one.
 */
export function canLeaveOutPromises(): boolean {
  let sawPromise = false;
  const options: HookOptions = {
    init(_asyncId, type) {
      if (type === 'PROMISE') sawPromise = true;
    },
    trackPromises: false,
  };
  const hook = createHook(options);
  hook.enable();
  Promise.resolve();
  hook.disable();
  return !sawPromise;
}

/**
 * The hook of a ledger, which also wakes up the heartbeat where it rests; not enabled yet. A throw in them goes to `onError`: from a hook it would
 * end the process.
 */
export function createCallbackTimer(
  ledger: IterationLedger,
  heartbeat: Pick<Heartbeat, 'resting' | 'wake'>,
  mode: Exclude<AsyncHooksMode, 'off'>,
  onError: (error: unknown) => void,
): AsyncHook {
  const options: HookOptions = {
    // Hot. try/catch is all that stands between a bug of ours and the host's life.
    before(asyncId) {
      try {
        if (ledger.enter()) {
          const resource = executionAsyncResource();
          ledger.before(classify(resource), asyncId);
          if (heartbeat.resting) heartbeat.wake(resource);
        } else ledger.beforeNested();
      } catch (error) {
        onError(error);
      }
    },
    after() {
      try {
        const depth = ledger.leave();
        if (depth === 0) ledger.after();
        else if (depth > 0) ledger.afterNested(depth);
      } catch (error) {
        onError(error);
      }
    },
  };
  if (mode === 'callbacks') options.trackPromises = false;
  return createHook(options);
}
