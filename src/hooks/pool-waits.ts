/**
 * Pools of worker threads whose idle workers wait for their next task in `Atomics.wait`, and not in
 * the event loop: piscina by default, and tinypool. Promises: such a wait is told as what it is;
 * any other call of `Atomics.wait` is left alone. Worker threads only.
 */
import { attempt } from '../support/guard.ts';
import { Patch, type Switch } from '../support/patch.ts';

/** Folders of the packages that wait so. */
const POOLS = ['/node_modules/piscina/', '/node_modules/tinypool/'];
const POOLS_ON_WINDOWS = POOLS.map((folder) => folder.replaceAll('/', '\\'));

export interface PoolWaitListener {
  begins(): void;
  ended(): void;
}

type Wait = typeof Atomics.wait;

export class PoolWaits {
  /** Whether it is a pool that waits for a change of this array: a stack is dear. */
  readonly #isPoolOf = new WeakMap<object, boolean>();
  readonly #patch = new Patch<Wait>(Atomics, 'wait', (original, power) =>
    this.#wrap(original, power),
  );

  constructor(
    private readonly listener: PoolWaitListener,
    /** The file of the code that has called into this package. */
    private readonly callingFile: () => string | undefined,
    private readonly onError: (error: unknown) => void,
  ) {}

  start(): void {
    attempt(() => this.#patch.apply(), this.onError);
  }

  stop(): void {
    attempt(() => this.#patch.putBack(), this.onError);
  }

  #wrap(original: Wait, power: Switch): Wait {
    const { listener, onError } = this;
    const isWanted = (array: unknown) => power.on && this.#isPool(array);
    return {
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
