/**
 * Tells the ledger of the begin and end of every callback, by async_hooks, while that is needed.
 * Nothing is kept per resource.
 *
 * `src/detect/README.md` says when hooks are on. If the watchdog thread does not watch for long,
 * promise reactions are hooked, too: no stack sample shows what they run.
 *
 * While they are off, they cost nothing, not even for an `await` on Node.js 20 and 22. V8 calls
 * promise hooks there while they are on.
 *
 * A stack sample comes in the middle of anything. If Node.js is switching these hooks off, they are
 * not armed: it takes out `before` and `after` of the promise hooks one after the other, in a
 * microtask. It would keep one without the other, which ends the process ("async hook stack has
 * become corrupted"; `lib/internal/promise_hooks.js`, Node.js 20 and 22).
 */
import { type AsyncHook, createHook, executionAsyncId, type HookCallbacks } from 'node:async_hooks';
import type { Faults, OnceLogger } from '../../otel/diag-once.ts';
import { canCountIterations } from '../../support/clock.ts';
import { queueMicrotask } from '../../support/time.ts';
import type { AsyncHooksMode } from '../../types.ts';
import { OWN } from '../callbacks.ts';
import type { LagSampler } from '../lag/lag-sampler.ts';
import type { Ledger } from '../ledger.ts';
import { classify, runningResource } from './resource-classes.ts';

type HookOptions = HookCallbacks & { trackPromises?: boolean };

/** The code that blocks may go on in the iteration after the one in which it was sampled. */
const ARMED_TICKS = 2;
// Taken once: fake timers of a test may replace it later.

/** Whether Node.js is switching hooks of this package off. */
let isSwitchingOff = false;

/** Frames that are left on the stack at least, when hooks are switched on. */
const ROOM_FRAMES = 24;

export interface AsyncHooksOptions {
  /** Hooks are on only while they are needed. */
  readonly onDemand: boolean;
  /** Promise reactions are callbacks too. */
  readonly promises: boolean;
}

/**
 * The async hooks in force, by option and runtime; undefined if there are none.
 * @param canCapture whether stack samples can be taken: without them, nothing arms hooks
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
        'async hooks are off, and utilization is unknown',
    );
    return undefined;
  }
  return canCapture ? wanted : 'always';
}

export class AsyncHooks {
  #hook: AsyncHook;
  #onDemand: boolean;
  #isStarted = false;
  #isOn = false;
  #ticksLeft = 0;
  #isWatched = false;
  #areSamplesLost = false;

  /**
   * @param tickResource the async resource of the tick
   * @param faults get what a hook throws: outside it would end the process
   */
  constructor(
    private readonly ledger: Ledger,
    private readonly lagSampler: Pick<LagSampler, 'isIdle' | 'wake'>,
    private readonly tickResource: () => object | undefined,
    private readonly options: AsyncHooksOptions,
    private readonly faults: Faults,
  ) {
    this.#onDemand = options.onDemand;
    this.#hook = this.#create(options.promises);
  }

  start(): void {
    this.#isStarted = true;
    this.arm();
  }

  stop(): void {
    this.#isStarted = false;
    this.#off();
  }

  /** All callbacks are hooked, promise reactions too, until the watchdog thread watches. */
  samplesLost(): void {
    this.#areSamplesLost = true;
    this.#use({ onDemand: false, promises: true });
  }

  /** Whether the watchdog thread watches, and will ask for a stack sample. */
  watch(isWatched: boolean): void {
    this.#isWatched = isWatched;
    if (!isWatched) this.arm();
    else if (this.#areSamplesLost) {
      this.#areSamplesLost = false;
      this.#use(this.options);
    }
  }

  /** {@link arm} in a stack sample, in the middle of whatever runs. */
  armInSample(isPrompt: boolean, requestedAt: number): void {
    if (!isSwitchingOff) this.arm(isPrompt, requestedAt);
  }

  /**
   * Callbacks are known from now on.
   * The parameters are those of {@link Ledger.arm}.
   * @throws RangeError near the end of the stack; then nothing has changed
   */
  arm(isPrompt?: boolean, knownSince?: number): void {
    if (!this.#isStarted) return;
    this.#ticksLeft = ARMED_TICKS;
    if (this.#isOn) return;
    needRoom(ROOM_FRAMES);
    this.#isOn = true;
    this.ledger.arm(executionAsyncId() !== 0, isPrompt, knownSince);
    this.#hook.enable();
  }

  /** Hot: in the tick. */
  tick(): void {
    isSwitchingOff = false;
    if (!this.#isOn || !this.#onDemand) return;
    if (this.lagSampler.isIdle || !this.#isWatched) this.#ticksLeft = ARMED_TICKS;
    else if (--this.#ticksLeft <= 0) this.#off();
  }

  #use({ onDemand, promises }: AsyncHooksOptions): void {
    this.#off();
    this.#onDemand = onDemand;
    this.#hook = this.#create(promises);
    this.arm();
  }

  #off(): void {
    if (!this.#isOn) return;
    isSwitchingOff = true;
    this.#isOn = false;
    this.#hook.disable();
    this.ledger.disarm();
    // This hook runs after that of Node.js.
    queueMicrotask(() => {
      isSwitchingOff = false;
    });
  }

  #create(promises: boolean): AsyncHook {
    const { ledger, lagSampler, tickResource, faults } = this;
    const { stack } = ledger;
    const options: HookOptions = {
      // try/catch is all that stands between a bug of ours and the host's life.
      before(asyncId) {
        try {
          if (stack.enter()) {
            const resource = runningResource();
            if (resource === tickResource() && resource !== undefined) {
              ledger.before(OWN);
              return;
            }
            ledger.before(classify(resource, asyncId), asyncId);
            if (lagSampler.isIdle) lagSampler.wake(resource, ledger.callbackStart);
          } else ledger.beforeNested();
        } catch (error) {
          faults.inHook ??= error;
        }
      },
      after(asyncId) {
        try {
          const depth = stack.leave();
          if (depth > 0) ledger.afterNested(depth);
          else if (ledger.isUnknown) ledger.afterUnknown(classify(runningResource(), asyncId));
          else if (depth === 0) ledger.after();
        } catch (error) {
          faults.inHook ??= error;
        }
      },
    };
    if (!promises) options.trackPromises = false;
    return createHook(options);
  }
}

/** Near the end of the stack, Node.js would switch hooks on half-way. */
function needRoom(frames: number): number {
  return frames === 0 ? 0 : 1 + needRoom(frames - 1);
}
