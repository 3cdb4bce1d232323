/**
 * Pools of worker threads whose idle workers wait for their next task in `Atomics.wait`, and not in
 * the event loop: piscina by default, and tinypool. Promises: such a wait is told as what it is;
 * any other call of `Atomics.wait` is left alone. Worker threads only.
 */
import { attempt } from '../support/guard.ts';

/** Folders of the packages that wait so. */
const POOLS = ['/node_modules/piscina/', '/node_modules/tinypool/'];
const POOLS_ON_WINDOWS = POOLS.map((folder) => folder.replaceAll('/', '\\'));

export interface PoolWaitListener {
  begins(): void;
  ended(): void;
}

type Wait = typeof Atomics.wait;

export class PoolWaits {
  /** The wrapper in force, and what it has replaced. */
  #wrapper: Wait | undefined;
  #original: Wait | undefined;
  /** Whether it is a pool that waits for a change of this array: a stack is dear. */
  readonly #isPoolOf = new WeakMap<object, boolean>();

  constructor(
    private readonly listener: PoolWaitListener,
    /** The file of the code that has called into this package. */
    private readonly callingFile: () => string | undefined,
    private readonly onError: (error: unknown) => void,
  ) {}

  start(): void {
    const original = Atomics.wait;
    const { listener, onError } = this;
    // Not where other code still calls the wrapper of an earlier start.
    const isWanted = (array: unknown) => this.#wrapper === wrapper && this.#isPool(array);
    const wrapper = {
      wait(this: unknown, ...args: unknown[]) {
        if (!isWanted(args[0])) return Reflect.apply(original, this, args);
        attempt(listener.begins, onError);
        try {
          return Reflect.apply(original, this, args);
        } finally {
          attempt(listener.ended, onError);
        }
      },
    }.wait as Wait;
    Object.defineProperty(wrapper, 'length', { value: original.length });
    this.#wrapper = wrapper;
    this.#original = original;
    attempt(() => replace(wrapper), onError);
  }

  /** What other code has wrapped meanwhile stays, and tells nobody any more. */
  stop(): void {
    const original = this.#original;
    if (original !== undefined && Atomics.wait === this.#wrapper) attempt(() => replace(original));
    this.#wrapper = undefined;
    this.#original = undefined;
  }

  #isPool(array: unknown): boolean {
    if (typeof array !== 'object' || array === null) return false;
    const known = this.#isPoolOf.get(array);
    if (known !== undefined) return known;
    const file = attempt(this.callingFile) ?? '';
    const isPool = [...POOLS, ...POOLS_ON_WINDOWS].some((folder) => file.includes(folder));
    this.#isPoolOf.set(array, isPool);
    return isPool;
  }
}

/** Throws where the host has frozen it. */
function replace(wait: Wait): void {
  Object.defineProperty(Atomics, 'wait', {
    ...Object.getOwnPropertyDescriptor(Atomics, 'wait'),
    value: wait,
  });
}
