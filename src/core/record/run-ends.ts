/**
 * When the code that stack samples have interrupted returned.
 *
 * A stack sample resolves a promise that was made before. Its reaction runs when the interrupted
 * code has returned, after the nextTicks and microtasks that were queued by then. Of a promise
 * reaction or nextTick, a nextTick tells when the microtasks after it have drained as well.
 *
 * In a sample nothing is made, and no hook of the application's is called.
 */
import type { StackSample } from '../../block.ts';
import { inRootContext } from '../../otel/root-context.ts';
import type { Clock } from '../../support/clock.ts';
import { attempt } from '../../support/guard.ts';
import { nextTick } from '../../support/time.ts';

// Taken once: an application may replace them.
const NativePromise = Promise;
const { then } = NativePromise.prototype;

export interface RunEndListener {
  /** The code that these samples have interrupted returned at `ranUntil`. */
  ended(samples: readonly StackSample[], ranUntil: number): void;
  /** The microtasks after that had drained at `ranUntil`. */
  drained(ranUntil: number): void;
}

export class RunEnds {
  #resolve: (() => void) | undefined;
  #interrupted: StackSample[] = [];

  constructor(
    private readonly clock: Pick<Clock, 'now'>,
    private readonly listener: RunEndListener,
    private readonly onError: (error: unknown) => void,
  ) {}

  start(): void {
    inRootContext(() => this.#listen());
  }

  stop(): void {
    this.#resolve = undefined;
    this.#interrupted = [];
  }

  /** Called in a stack sample. A promise that is resolved twice is told to the application. */
  mark(sample: StackSample): void {
    if (this.#resolve !== undefined && this.#interrupted.push(sample) === 1) this.#resolve();
  }

  #listen(): void {
    const promise = new NativePromise<void>((resolve) => {
      this.#resolve = resolve;
    });
    then.call(promise, this.#onReaction);
  }

  readonly #onReaction = (): void => {
    const samples = this.#interrupted;
    this.#interrupted = [];
    if (this.#resolve === undefined) return;
    this.#listen();
    const ranUntil = this.clock.now();
    attempt(() => this.listener.ended(samples, ranUntil), this.onError);
    if (samples.at(-1)?.drain !== undefined) nextTick(this.#onTick);
  };

  readonly #onTick = (): void => {
    if (this.#resolve === undefined) return;
    attempt(() => this.listener.drained(this.clock.now()), this.onError);
  };
}
