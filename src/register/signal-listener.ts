/**
 * Listens to a signal so that the listeners of others do what they would do without it: they are
 * called as usual, and those that count listeners while a signal is handled, as signal-exit does,
 * do not find this one.
 */
import { EventEmitter } from 'node:events';

/** What is made of `process` by others, to hide listeners of their own for one, does not apply. */
const emitter = EventEmitter.prototype;
/** Other code may put its listener first as well. */
const MAX_MOVES = 100;

export class SignalListener {
  readonly #signal: NodeJS.Signals;
  /** @param isHandled whether others listen: then the signal does nothing by itself */
  readonly #onSignal: (isHandled: boolean) => void;
  #isAdded = false;
  #isLeaving = false;
  #moves = 0;

  constructor(signal: NodeJS.Signals, onSignal: (isHandled: boolean) => void) {
    this.#signal = signal;
    this.#onSignal = onSignal;
  }

  add(): void {
    if (this.#isAdded) return;
    this.#isAdded = true;
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
  }

  readonly #listener = (_name?: unknown, number?: unknown): void => {
    // It may be in the list twice.
    if (!this.#isAdded) return;
    // First, and gone before the next is called: it is not counted.
    this.#leave();
    queueMicrotask(this.#enter);
    const isHandled = this.#count() > 0;
    // An event that is no signal does nothing without a listener.
    if (isHandled || typeof number === 'number') this.#onSignal(isHandled);
  };

  readonly #onNewListener = (event: string | symbol, listener: unknown): void => {
    if (event !== this.#signal || listener === this.#listener) return;
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
    // Where it is the only one, a signal that has come already is lost with it.
    if (!this.#isAdded || this.#isFirst()) return;
    this.#leave();
    const max = process.getMaxListeners();
    if (max > 0 && this.#count() >= max) return;
    process.prependListener(this.#signal, this.#listener);
  };

  #isFirst(): boolean {
    return emitter.listeners.call(process, this.#signal)[0] === this.#listener;
  }

  #leave(): void {
    this.#isLeaving = true;
    try {
      // More than once where other code has removed all listeners and put them back.
      while (emitter.listeners.call(process, this.#signal).includes(this.#listener)) {
        process.off(this.#signal, this.#listener);
      }
    } finally {
      this.#isLeaving = false;
    }
  }

  #count(): number {
    return emitter.listenerCount.call(process, this.#signal);
  }
}
