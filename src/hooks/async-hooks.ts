/**
 * Feeds the ledger from async_hooks: the begin and end of every callback. Nothing is kept per
 * resource. Cost above an empty hook: `npm run bench -- hooks`.
 */
import { type AsyncHook, createHook, type HookCallbacks } from 'node:async_hooks';
import type { LagSampler } from '../lag/lag-sampler.ts';
import type { IterationLedger } from '../loop/iteration-ledger.ts';
import type { Faults } from '../otel/diag-once.ts';
import type { HookedMode } from './hooks-mode.ts';
import { emptyNativeCalls, inProgress } from './native-calls/in-progress.ts';
import { classify, runningResource } from './resource-classes.ts';

export type HookOptions = HookCallbacks & { trackPromises?: boolean };

export class AsyncHooks {
  #hook: AsyncHook;
  #isStarted = false;

  /** @param faults get what a hook throws: outside it would end the process */
  constructor(
    private readonly ledger: IterationLedger,
    private readonly lagSampler: Pick<LagSampler, 'isIdle' | 'wake'>,
    mode: HookedMode,
    private readonly faults: Faults,
  ) {
    this.#hook = this.#create(mode);
  }

  start(): void {
    this.#isStarted = true;
    this.#hook.enable();
  }

  stop(): void {
    this.#isStarted = false;
    this.#hook.disable();
  }

  use(mode: HookedMode): void {
    this.#hook.disable();
    this.#hook = this.#create(mode);
    if (this.#isStarted) this.#hook.enable();
  }

  #create(mode: HookedMode): AsyncHook {
    const { ledger, lagSampler, faults } = this;
    const { stack } = ledger;
    const options: HookOptions = {
      // Hot. try/catch is all that stands between a bug of ours and the host's life.
      before(asyncId) {
        try {
          if (stack.enter()) {
            if (inProgress.depth !== 0) emptyNativeCalls();
            const resource = runningResource();
            ledger.before(classify(resource, asyncId), asyncId);
            if (lagSampler.isIdle) lagSampler.wake(resource, ledger.callbackStart);
          } else ledger.beforeNested();
        } catch (error) {
          faults.inHook ??= error;
        }
      },
      after() {
        try {
          const depth = stack.leave();
          if (depth === 0) ledger.after();
          else if (depth > 0) ledger.afterNested(depth);
        } catch (error) {
          faults.inHook ??= error;
        }
      },
    };
    if (mode === 'callbacks') options.trackPromises = false;
    return createHook(options);
  }
}
