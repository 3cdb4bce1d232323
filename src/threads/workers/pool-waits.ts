/**
 * Pools of worker threads whose idle workers wait for their next task in `Atomics.wait`, and not in
 * the event loop: piscina by default, and tinypool. Used in worker threads only.
 *
 * Guarantees: such a wait is no block, and any other call of `Atomics.wait` is left alone.
 */
import { attempt } from '../../support/guard.ts';
import { Patch } from '../../support/patch.ts';

const POOLS = ['/node_modules/piscina/', '/node_modules/tinypool/'];
const POOLS_ON_WINDOWS = POOLS.map((folder) => folder.replaceAll('/', '\\'));

type Wait = typeof Atomics.wait;

export class PoolWaits {
  /** Whether it is a pool that waits for a change of this array: a stack is dear. */
  readonly #isPoolOf = new WeakMap<object, boolean>();

  constructor(
    readonly listener: { begins(): void; ended(): void },
    /** The file of the code that has called into this package. */
    private readonly callingFile: () => string | undefined,
    readonly onError: (error: unknown) => void,
  ) {}

  start(): void {
    attempt(() => patch.apply(this), this.onError);
  }

  stop(): void {
    attempt(() => patch.putBack(this), this.onError);
  }

  isPool(array: unknown): boolean {
    if (typeof array !== 'object' || array === null) return false;
    const known = this.#isPoolOf.get(array);
    if (known !== undefined) return known;
    const file = attempt(this.callingFile) ?? '';
    const isPool = [...POOLS, ...POOLS_ON_WINDOWS].some((folder) => file.includes(folder));
    this.#isPoolOf.set(array, isPool);
    return isPool;
  }
}

const patch = new Patch<Wait, PoolWaits>(
  Atomics,
  'wait',
  (original, state) =>
    ({
      wait(this: unknown, ...args: unknown[]) {
        const { user } = state;
        if (user?.isPool(args[0]) !== true) return Reflect.apply(original, this, args);
        const { listener, onError } = user;
        attempt(listener.begins, onError);
        try {
          return Reflect.apply(original, this, args);
        } finally {
          attempt(listener.ended, onError);
        }
      },
    }).wait as Wait,
);
