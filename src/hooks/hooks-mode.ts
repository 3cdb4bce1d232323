/** Which async hooks are in force, by what is asked for and what this Node.js can do. */
import { createHook } from 'node:async_hooks';
import type { OnceLogger } from '../otel/diag-once.ts';
import { canCountIterations } from '../support/clock.ts';
import type { AsyncHooksMode } from '../types.ts';
import type { HookOptions } from './async-hooks.ts';

export type HookedMode = Exclude<AsyncHooksMode, 'off'>;

/** Asked once: it is a property of the Node.js that runs. */
let promisesCanBeLeftOut: boolean | undefined;

/** @param canCapture whether stack samples can show the context of promise reactions */
export function resolveHooksMode(
  wanted: AsyncHooksMode | 'auto',
  canCapture: boolean,
  log: OnceLogger,
): AsyncHooksMode {
  if (wanted === 'off') return 'off';
  if (!canCountIterations) {
    log.log(
      'warn',
      'this runtime does not count loop iterations (Node.js 20.18 and 22.8 do): ' +
        'asyncHooks is off, and utilization is unknown',
    );
    return 'off';
  }
  if (wanted === 'promises' || (wanted === 'auto' && !canCapture)) return 'promises';
  promisesCanBeLeftOut ??= canLeaveOutPromises();
  if (promisesCanBeLeftOut) return 'callbacks';
  if (wanted === 'callbacks') {
    log.log(
      'warn',
      "asyncHooks 'callbacks' needs Node.js 24.14 or 25.6: promise hooks cannot be left out",
    );
  }
  return 'promises';
}

/**
 * Whether `createHook` honours `trackPromises: false` (Node.js 24.14 and 25.6; ignored before):
 * determined by whether a hook that asks for no promises is called for one.
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
