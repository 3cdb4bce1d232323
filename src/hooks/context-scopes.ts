/**
 * Times every call of the context manager's `with`.
 *
 * This is where the parent of a block comes from. A handler that blocks synchronously runs inside
 * `with(its context)`, and `with` has put the old context back by the time an async_hooks `after`
 * runs: the active context there is none, or another one. Only the scope itself still has it.
 * `context.bind` and `startActiveSpan` come through `with` too.
 */
import type { Context, ContextManager } from '@opentelemetry/api';
import type { Ledger } from '../loop/ledger.ts';
import type { Clock } from '../support/clock.ts';

type With = ContextManager['with'];

/**
 * The wrap of one manager. Outlives `release` when other code has wrapped the manager since.
 */
interface Wrap {
  readonly wrapper: With;
  /** False: calls go straight through. */
  active: boolean;
}

export class ContextScopes {
  /** Managers are kept weakly: a replaced one must not stay alive because of us. */
  readonly #wraps = new WeakMap<ContextManager, Wrap>();
  #manager: ContextManager | undefined;

  constructor(
    private readonly ledger: Pick<Ledger, 'voted' | 'scope'>,
    private readonly clock: Clock,
    private readonly onError: (error: unknown) => void,
  ) {}

  /**
   * Watches this manager from now on, and no other. Cheap where it is watched already; cannot
   * throw.
   */
  watch(manager: ContextManager): void {
    if (manager === this.#manager && this.#wraps.get(manager)?.active === true) return;
    this.release();
    this.#manager = manager;
    try {
      const wrap = this.#wraps.get(manager);
      if (wrap !== undefined) wrap.active = true;
      else this.#wrap(manager);
    } catch (error) {
      this.onError(error);
    }
  }

  /**
   * Puts the manager's own `with` back, or, where other code wrapped it since, makes this
   * wrapper call straight through.
   */
  release(): void {
    const manager = this.#manager;
    this.#manager = undefined;
    const wrap = manager && this.#wraps.get(manager);
    if (manager === undefined || wrap === undefined) return;
    wrap.active = false;
    try {
      if (manager.with !== wrap.wrapper) return;
      // The original is on the prototype, or was an own property before us.
      const original = originals.get(wrap.wrapper) as PropertyDescriptor | undefined;
      if (original === undefined) delete (manager as Partial<ContextManager>).with;
      else Object.defineProperty(manager, 'with', original);
      this.#wraps.delete(manager);
    } catch (error) {
      this.onError(error);
    }
  }

  #wrap(manager: ContextManager): void {
    const { ledger, clock, onError } = this;
    const original = manager.with;
    // Hot: one clock read, and one more at the end where the ledger needs it (`npm run bench --
    // hooks`).
    const wrapper = function (
      this: ContextManager,
      context: Context,
      fn: () => unknown,
      thisArg?: unknown,
    ) {
      if (!wrap.active) {
        // biome-ignore lint/complexity/noArguments: a rest parameter would allocate on every call
        return original.apply(this, arguments as unknown as Parameters<With>);
      }
      let voted = 0;
      let start = 0;
      try {
        voted = ledger.voted;
        start = clock.now();
      } catch (error) {
        onError(error);
      }
      try {
        // Nearly all calls pass no arguments on to the function.
        // biome-ignore lint/complexity/noArguments: as above
        if (arguments.length <= 3) return original.call(this, context, fn, thisArg as undefined);
        // biome-ignore lint/complexity/noArguments: as above
        return original.apply(this, arguments as unknown as Parameters<With>);
      } finally {
        try {
          if (start > 0) ledger.scope(context, start, voted);
        } catch (error) {
          onError(error);
        }
      }
    } as With;
    const wrap: Wrap = { wrapper, active: true };
    const own = Object.getOwnPropertyDescriptor(manager, 'with');
    if (own !== undefined) originals.set(wrapper, own);
    Object.defineProperty(manager, 'with', {
      value: wrapper,
      configurable: true,
      writable: true,
      enumerable: own?.enumerable ?? false,
    });
    this.#wraps.set(manager, wrap);
  }
}

/** What a wrapper replaced, where that was the manager's own property. */
const originals = new WeakMap<With, PropertyDescriptor>();
