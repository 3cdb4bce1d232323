/**
 * Tells the ledger when callbacks begin and end, by async_hooks. Nothing is kept per resource.
 *
 * With `'always'` the hook is on all the time, promise reactions included. With `'auto'` it is on
 * 1. until the first tick, so that what runs right after the main script is known;
 * 2. while the loop idles: the callback that ends the rest has to wake up the watchdog thread;
 * 3. while the watchdog thread does not watch: no stack sample tells callbacks apart then.
 *
 * It is switched in a tick, a beat or the first timer, and never inside a stack sample: that may
 * come while Node.js or the application switches hooks ("async hook stack has become corrupted",
 * Node.js 20 and 22).
 *
 * Until Node.js 24, a hook with `before` brings V8's promise hooks with it. With `'auto'` it stays
 * off there in a process that has none: they cost each `await` some 100 ns, and a `vm` context with
 * `timeout` and `microtaskMode` ends such a process.
 */
import { type AsyncHook, createHook, type HookCallbacks } from 'node:async_hooks';
import type { Faults, OnceLogger } from '../../../otel/diag-once.ts';
import { canCountIterations } from '../../../support/clock.ts';
import { attempt } from '../../../support/guard.ts';
import type { AsyncHooksMode } from '../../../types.ts';
import type { LagSampler } from '../lag/lag-sampler.ts';
import type { Ledger } from '../ledger.ts';
import { hasPromiseHooks, runningResource } from './resource-classes.ts';

type HookOptions = HookCallbacks & { trackPromises?: boolean };

/** Whether `trackPromises` is known: a runtime that knows it refuses these options. */
const canLeaveOutPromises =
  attempt(() => createHook({ promiseResolve() {}, trackPromises: false } as HookOptions)) ===
  undefined;

/**
 * The async hooks in force, by option and runtime; undefined if there are none.
 * @param canCapture whether stack samples can be taken
 */
export function resolveHooksMode(
  wanted: AsyncHooksMode,
  canCapture: boolean,
  log: OnceLogger,
): AsyncHooksMode | undefined {
  if (!canCountIterations) {
    log.log(
      'warn',
      'this runtime does not count loop iterations (Node.js 20.18 and 22.8 do): ' +
        'blocks are not found, and utilization is unknown',
    );
    return undefined;
  }
  return canCapture ? wanted : 'always';
}

/** Whether the hook may be on. An AsyncLocalStorage, as the SDK has, brings promise hooks, too. */
export function mayHook(mode: AsyncHooksMode | undefined): boolean {
  if (mode !== 'auto') return mode === 'always';
  return canLeaveOutPromises || hasPromiseHooks();
}

export class CallbackHook {
  readonly #hook: AsyncHook;
  #isStarted = false;
  #isStarting = false;
  #isOn = false;
  #isWatched = false;

  /**
   * @param tickResource the async resource of the tick
   * @param faults get what a hook throws: outside it would end the process
   */
  constructor(
    ledger: Pick<Ledger, 'enter' | 'leave'>,
    private readonly lagSampler: Pick<LagSampler, 'isIdle' | 'wake'>,
    tickResource: () => object | undefined,
    private readonly mode: AsyncHooksMode,
    faults: Faults,
  ) {
    const options: HookOptions = {
      // Hot. try/catch is all that stands between a bug of ours and the host's life.
      before() {
        try {
          ledger.enter();
          if (!lagSampler.isIdle) return;
          const resource = runningResource();
          if (resource === undefined || resource !== tickResource()) lagSampler.wake(resource);
        } catch (error) {
          faults.inHook ??= error;
        }
      },
      after() {
        try {
          ledger.leave();
        } catch (error) {
          faults.inHook ??= error;
        }
      },
    };
    if (mode === 'auto') options.trackPromises = false;
    this.#hook = createHook(options);
  }

  start(): void {
    this.#isStarted = true;
    this.#isStarting = true;
    this.switch();
  }

  stop(): void {
    this.#isStarted = false;
    this.switch();
  }

  /** Whether the watchdog thread watches, and will ask for stack samples. */
  watch(isWatched: boolean): void {
    this.#isWatched = isWatched;
  }

  /** Hot: in the tick. */
  tick(): void {
    this.#isStarting = false;
    this.switch();
  }

  /** Call it in a tick, a beat or a timer of ours only, or in what the application calls. */
  switch(): void {
    const isNeeded = this.#isStarted && this.#isWanted;
    if (isNeeded === this.#isOn || (isNeeded && !mayHook(this.mode))) return;
    this.#isOn = isNeeded;
    if (isNeeded) this.#hook.enable();
    else this.#hook.disable();
  }

  get #isWanted(): boolean {
    const { mode, lagSampler } = this;
    return mode === 'always' || this.#isStarting || lagSampler.isIdle || !this.#isWatched;
  }
}
