/**
 * Listens to a signal so that the listeners of others do what they would do without it: they are
 * called as usual, and those that count listeners while a signal is handled, as signal-exit does,
 * do not find this one.
 */
import { createHook } from 'node:async_hooks';
import { EventEmitter } from 'node:events';
import { constants } from 'node:os';
import { canCountIterations } from './clock.ts';
import { all, changeMaximum, listenAgain } from './process-listeners.ts';
import { nextTick, queueMicrotask } from './time.ts';

const { ofSignals: OURS, othersForRemoval } = all;

/** What is made of `process` by others, to hide listeners of their own for one, does not apply. */
const emitter = EventEmitter.prototype;
/** Other code may put its listener first as well. */
const MAX_MOVES = 100;

/** A process whose event loop is blocked for this long is ended by a signal at once. */
const LET_GO_AFTER_MILLIS = 1000;

/**
 * Called in a stack sample inside a block of this age: a process whose event loop does not turn
 * again could not be ended otherwise. No regular expression here.
 */
export function letGoOfSignals(ageMillis: number): void {
  if (ageMillis < LET_GO_AFTER_MILLIS) return;
  let listening = 0;
  for (const { isListening } of OURS.values()) if (isListening) listening++;
  if (listening === 0) return;
  // A listener of the application's would be called inside the stack sample.
  const others = emitter.listenerCount.call(process, 'removeListener') - listening;
  const isAtEnd = ageMillis === Number.POSITIVE_INFINITY;
  if (others === othersForRemoval) for (const each of OURS.values()) each.letGo(isAtEnd);
}

/** Called now and then: the event loop turns. */
export function listenForSignalsAgain(): void {
  for (const each of OURS.values()) each.listen();
}

/** Node.js' own of a signal: stopped and started again, it still has a signal that came before. */
interface SignalHandle {
  start(number: number): void;
  stop(): void;
}

/** Undefined if none was made, or not only one. */
function handleMadeBy(listen: () => void): SignalHandle | undefined {
  const made: SignalHandle[] = [];
  // Bun 1.1 prints that it has no such hooks.
  const hook = canCountIterations
    ? createHook({
        init(_id, type, _trigger, resource) {
          if (type === 'SIGNALWRAP') made.push(resource as SignalHandle);
        },
      }).enable()
    : undefined;
  try {
    listen();
  } finally {
    hook?.disable();
  }
  return made.length === 1 ? made[0] : undefined;
}

export class SignalListener {
  readonly signal: NodeJS.Signals;
  readonly #onSignal: (isHandled: boolean, isShared: boolean, signal: NodeJS.Signals) => void;
  #isAdded = false;
  isListening = false;
  #isLeaving = false;
  #moves = 0;
  /** Known until the listener leaves, if Node.js began to watch for the signal with it. */
  #handle: SignalHandle | undefined;
  #isStopped = false;
  #resumeSoon = (): void => {};

  /**
   * @param onSignal `isHandled`: others listen, so the signal does nothing by itself; `isShared`:
   *   another listener of this kind is called for the same signal
   */
  constructor(
    signal: NodeJS.Signals,
    onSignal: (isHandled: boolean, isShared: boolean, signal: NodeJS.Signals) => void,
  ) {
    this.signal = signal;
    this.#onSignal = onSignal;
  }

  add(): void {
    if (this.#isAdded) return;
    this.#isAdded = true;
    OURS.set(this.#listener, this);
    const isFirst = this.#count() === 0;
    const handle = handleMadeBy(() => this.listen());
    if (!isFirst || handle === undefined) return;
    this.#handle = handle;
    this.#prepare();
  }

  remove(): void {
    if (!this.#isAdded) return;
    this.#isAdded = false;
    this.#stopListening();
    // Not before the others of this kind have been called, if a signal is being handled.
    queueMicrotask(() => {
      if (!this.#isAdded) OURS.delete(this.#listener);
    });
  }

  /** Again after {@link letGo}, unless it was removed. */
  listen(): void {
    if (!this.#isAdded) return;
    if (this.isListening) {
      this.#resume();
      return;
    }
    this.isListening = true;
    changeMaximum(1);
    // Before the listener with which Node.js begins to watch for the signal: ours may leave and not
    // end that.
    (process as EventEmitter).prependListener('newListener', this.#onNewListener);
    process.on('removeListener', this.#onRemoveListener);
    this.#enter();
  }

  /** In a stack sample: what the signal does by itself, until what runs has ended. */
  letGo(isAtEnd = false): void {
    if (!this.isListening || this.#isStopped) return;
    const isAlone = this.#countOthers() === 0;
    // To close the handle of another's listener that has left would turn the loop once more.
    if (isAtEnd && isAlone && this.#handle === undefined) return;
    if (this.#handle === undefined || !isAlone) {
      this.#stopListening();
      return;
    }
    this.#isStopped = true;
    this.#handle.stop();
    this.#resumeSoon();
  }

  readonly #resume = (): void => {
    if (!this.#isStopped) return;
    this.#isStopped = false;
    this.#handle?.start(constants.signals[this.signal]);
    this.#prepare();
  };

  /**
   * Listens again before libuv looks for signals: one that has come already would be lost. After
   * all promise reactions, since they may be what does not end. Made beforehand: in a stack sample,
   * hooks of the application would be called.
   */
  #prepare(): void {
    new Promise<void>((resolve) => {
      this.#resumeSoon = resolve;
    }).then(() => nextTick(this.#resume));
  }

  #stopListening(): void {
    if (!this.isListening) return;
    this.isListening = false;
    process.off('newListener', this.#onNewListener);
    process.off('removeListener', this.#onRemoveListener);
    changeMaximum(-1);
    this.#leave();
  }

  readonly #listener = (_name?: unknown, number?: unknown): void => {
    // The list may have this listener twice.
    if (!this.isListening) return;
    // First, and gone before the next is called: it is not counted.
    this.#leave();
    queueMicrotask(this.#enter);
    const isHandled = this.#countOthers() > 0;
    // An event that is no signal does nothing without a listener.
    if (isHandled || typeof number === 'number')
      this.#onSignal(isHandled, this.#isShared(), this.signal);
  };

  readonly #onNewListener = (event: string | symbol, listener: unknown): void => {
    if (event !== this.signal || OURS.has(listener)) return;
    // The warning that there are too many listeners would count this one.
    const max = process.getMaxListeners();
    if (max > 0 && this.#count() >= max) this.#leave();
    else queueMicrotask(this.#moveToFront);
  };

  readonly #onRemoveListener = (event: string | symbol): void => {
    if (event !== this.signal || this.#isLeaving) return;
    queueMicrotask(listenAgain);
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
    if (!this.isListening || this.#isFirst()) return;
    this.#leave();
    const max = process.getMaxListeners();
    if (max > 0 && this.#count() >= max) return;
    process.prependListener(this.signal, this.#listener);
  };

  #isFirst(): boolean {
    const listeners = this.#listeners();
    const own = listeners.indexOf(this.#listener);
    return own !== -1 && listeners.slice(0, own).every((listener) => OURS.has(listener));
  }

  #isShared(): boolean {
    for (const [listener, { signal }] of OURS) {
      if (signal === this.signal && listener !== this.#listener) return true;
    }
    return false;
  }

  #leave(): void {
    this.#isLeaving = true;
    // Node.js closes it with the last listener.
    this.#handle = undefined;
    this.#isStopped = false;
    try {
      // More than once if other code has removed all listeners and put them back.
      while (this.#listeners().includes(this.#listener)) {
        process.off(this.signal, this.#listener);
      }
    } finally {
      this.#isLeaving = false;
    }
  }

  #count(): number {
    return emitter.listenerCount.call(process, this.signal);
  }

  #countOthers(): number {
    return this.#listeners().filter((listener) => !OURS.has(listener)).length;
  }

  #listeners(): unknown[] {
    return emitter.listeners.call(process, this.signal);
  }
}
