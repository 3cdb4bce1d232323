/**
 * Times every call of the context manager's `with`.
 *
 * The parent of a block comes from here. A handler that blocks synchronously runs inside
 * `with(its context)`, and `with` has put the old context back by the time an async_hooks `after`
 * runs: the active context there is none, or another one. Only the scope itself still has it.
 * `context.bind` and `startActiveSpan` come through `with` too.
 */
import type { Context, ContextManager } from '@opentelemetry/api';
import type { Faults } from '../../../otel/diag-once.ts';
import type { Clock } from '../../../support/clock.ts';
import { attempt } from '../../../support/guard.ts';
import { Patch, type Wrap } from '../../../support/patch.ts';
import type { Ledger } from '../ledger.ts';

type With = ContextManager['with'];

export class ContextScopes {
  /** Managers are kept weakly: a replaced one must not stay alive because of us. */
  readonly #patches = new WeakMap<ContextManager, Patch<With>>();
  #manager: ContextManager | undefined;

  constructor(
    private readonly ledger: Pick<Ledger, 'voted' | 'scope'>,
    private readonly clock: Clock,
    private readonly faults: Faults,
  ) {}

  /**
   * Watches this manager from now on, and no other. Cheap if it is watched already; cannot throw.
   */
  watch(manager: ContextManager): void {
    if (manager === this.#manager) return;
    this.release();
    this.#manager = manager;
    attempt(() => {
      const patch = this.#patches.get(manager) ?? new Patch(manager, 'with', this.#wrap);
      this.#patches.set(manager, patch);
      if (!patch.apply()) throw new TypeError('`with` of the context manager cannot be replaced');
    }, this.#onError);
  }

  release(): void {
    const patch = this.#manager && this.#patches.get(this.#manager);
    this.#manager = undefined;
    attempt(() => patch?.putBack(), this.#onError);
  }

  readonly #onError = (error: unknown) => {
    this.faults.inHook ??= error;
  };

  readonly #wrap: Wrap<With> = (original, state) => {
    const { ledger, clock, faults } = this;
    // Hot: one clock read, and one more at the end if the ledger needs it.
    const wrapper = {
      with(this: ContextManager, context: Context, fn: () => unknown, thisArg?: unknown) {
        if (!state.on) {
          // biome-ignore lint/complexity/noArguments: a rest parameter would allocate on every call
          return original.apply(this, arguments as unknown as Parameters<With>);
        }
        let voted = 0;
        let start = 0;
        try {
          voted = ledger.voted;
          start = clock.now();
        } catch (error) {
          faults.inHook ??= error;
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
            faults.inHook ??= error;
          }
        }
      },
    }.with;
    return wrapper as With;
  };
}
