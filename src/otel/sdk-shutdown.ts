/**
 * Tells that the SDK is about to shut down: afterwards it takes no spans. The API has no event for
 * it, so `shutdown` of its tracer provider is wrapped.
 */
import type { TracerProvider } from '@opentelemetry/api';
import { attempt } from '../support/guard.ts';
import { Patch, type Wrap } from '../support/patch.ts';
import { sdkOf } from './sdk-internals.ts';

type Shutdown = (...args: unknown[]) => unknown;

interface Provider extends TracerProvider {
  shutdown?: Shutdown;
}

/** Weakly: a provider that is replaced must not stay alive because of us. */
const patches = new WeakMap<Provider, Patch<Shutdown, () => void>>();

export class SdkShutdown {
  #provider: WeakRef<Provider> | undefined;
  readonly #tell = () => void attempt(this.onShutdown, this.onError);

  /**
   * @param onShutdown called before the SDK's own `shutdown`
   * @param onError given what it throws, and what goes wrong here
   */
  constructor(
    private readonly onShutdown: () => void,
    private readonly onError: (error: unknown) => void,
  ) {}

  /**
   * Watches the SDK behind `tracerProvider` from now on, and no other. Cheap if it is watched
   * already; cannot throw.
   */
  watch(tracerProvider: TracerProvider): void {
    attempt(() => {
      const provider: Provider = sdkOf(tracerProvider);
      if (provider === this.#provider?.deref()) return;
      this.release();
      this.#provider = new WeakRef(provider);
      if (typeof provider.shutdown !== 'function') return;
      const patch = patches.get(provider) ?? new Patch(provider, 'shutdown', wrapShutdown);
      patches.set(provider, patch);
      if (!patch.apply(this.#tell)) throw new TypeError('`shutdown` of the SDK cannot be replaced');
    }, this.onError);
  }

  release(): void {
    const provider = this.#provider?.deref();
    this.#provider = undefined;
    attempt(() => provider && patches.get(provider)?.putBack(this.#tell), this.onError);
  }
}

const wrapShutdown: Wrap<Shutdown, () => void> = (original, power) =>
  ({
    shutdown(this: unknown, ...args: unknown[]) {
      power.user?.();
      return original.apply(this, args);
    },
  }).shutdown;
