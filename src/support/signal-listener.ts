/**
 * Listens to a signal so that the listeners of others do what they would do without it: they are
 * called as usual, and those that count listeners while a signal is handled, as signal-exit does,
 * do not find this one.
 */
import { EventEmitter } from 'node:events';
import { PACKAGE_NAME } from '../version.ts';
import { perThread } from './per-thread.ts';
import { queueMicrotask } from './time.ts';

/**
 * Listeners of this kind, of every copy of this package in the thread: to each other they are none.
 */
const OURS = perThread(
  Symbol.for(`${PACKAGE_NAME}.signals.v1`),
  () => new Map<unknown, NodeJS.Signals>(),
);

/** What is made of `process` by others, to hide listeners of their own for one, does not apply. */
const emitter = EventEmitter.prototype;
/** Other code may put its listener first as well. */
const MAX_MOVES = 100;

export class SignalListener {
  readonly #signal: NodeJS.Signals;
  readonly #onSignal: (isHandled: boolean, isShared: boolean) => void;
  #isAdded = false;
  #isLeaving = false;
  #moves = 0;

  /**
   * @param onSignal `isHandled`: others listen, so the signal does nothing by itself; `isShared`:
   *   another listener of this kind is called for the same signal
   */
  constructor(signal: NodeJS.Signals, onSignal: (isHandled: boolean, isShared: boolean) => void) {
    this.#signal = signal;
    this.#onSignal = onSignal;
  }

  add(): void {
    if (this.#isAdded) return;
    this.#isAdded = true;
    OURS.set(this.#listener, this.#signal);
    // Before the listener with which Node.js begins to watch for the signal: ours may leave and not
    // end that.
    (process as EventEmitter).prependListener('newListener', this.#onNewListener);
    process.on('removeListener', this.#onRemoveListener);
    this.#enter();
  }

  remove(): void {
    if (!this.#isAdded) return;
    this.#isAdded = false;
    process.off('newListener', this.#onNewListener);
    process.off('removeListener', this.#onRemoveListener);
    this.#leave();
    // Not before the others of this kind have been called, if a signal is being handled.
    queueMicrotask(() => {
      if (!this.#isAdded) OURS.delete(this.#listener);
    });
  }

  readonly #listener = (_name?: unknown, number?: unknown): void => {
    // It may be in the list twice.
    if (!this.#isAdded) return;
    // First, and gone before the next is called: it is not counted.
    this.#leave();
    queueMicrotask(this.#enter);
    const isHandled = this.#countOthers() > 0;
    // An event that is no signal does nothing without a listener.
    if (isHandled || typeof number === 'number') this.#onSignal(isHandled, this.#isShared());
  };

  readonly #onNewListener = (event: string | symbol, listener: unknown): void => {
    if (event !== this.#signal || OURS.has(listener)) return;
    // The warning that there are too many listeners would count this one.
    const max = process.getMaxListeners();
    if (max > 0 && this.#count() >= max) this.#leave();
    else queueMicrotask(this.#moveToFront);
  };

  readonly #onRemoveListener = (event: string | symbol): void => {
    if (event !== this.#signal || this.#isLeaving) return;
    // At once: code that removes the last one may send the signal again to end the process.
    if (this.#count() === 0) this.#enter();
    else queueMicrotask(this.#enter);
  };

  readonly #moveToFront = (): void => {
    if (this.#isFirst()) return;
    if (this.#moves++ < MAX_MOVES) this.#enter();
  };

  readonly #enter = (): void => {
    // If it is the only one, a signal that has come already is lost with it.
    if (!this.#isAdded || this.#isFirst()) return;
    this.#leave();
    const max = process.getMaxListeners();
    if (max > 0 && this.#count() >= max) return;
    process.prependListener(this.#signal, this.#listener);
  };

  #isFirst(): boolean {
    const listeners = this.#listeners();
    const own = listeners.indexOf(this.#listener);
    return own !== -1 && listeners.slice(0, own).every((listener) => OURS.has(listener));
  }

  #isShared(): boolean {
    for (const [listener, signal] of OURS) {
      if (signal === this.#signal && listener !== this.#listener) return true;
    }
    return false;
  }

  #leave(): void {
    this.#isLeaving = true;
    try {
      // More than once if other code has removed all listeners and put them back.
      while (this.#listeners().includes(this.#listener)) {
        process.off(this.#signal, this.#listener);
      }
    } finally {
      this.#isLeaving = false;
    }
  }

  #count(): number {
    return emitter.listenerCount.call(process, this.#signal);
  }

  #countOthers(): number {
    return this.#listeners().filter((listener) => !OURS.has(listener)).length;
  }

  #listeners(): unknown[] {
    return emitter.listeners.call(process, this.#signal);
  }
}
