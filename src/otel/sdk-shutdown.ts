/**
 * Tells that the SDK is about to shut down: afterwards it takes no spans. The API has no event for
 * it, so `shutdown` of its tracer provider is wrapped.
 */
import type { TracerProvider } from '@opentelemetry/api';
import { attempt } from '../support/guard.ts';
import { sdkOf } from './sdk-internals.ts';

interface Provider extends TracerProvider {
  shutdown?(...args: unknown[]): unknown;
}

/** Outlives `release` where other code has wrapped the provider since. */
interface Wrap {
  readonly wrapper: (...args: unknown[]) => unknown;
  /** The property before it, if the provider itself had one. */
  readonly original: PropertyDescriptor | undefined;
  /** Undefined: calls go straight through. */
  onShutdown: (() => void) | undefined;
}

/** Weakly: a provider that is replaced must not stay alive because of us. */
const wraps = new WeakMap<Provider, Wrap>();

export class SdkShutdown {
  #provider: WeakRef<Provider> | undefined;

  /**
   * @param onShutdown called before the SDK's own `shutdown`
   * @param onError given what it throws, and what goes wrong here
   */
  constructor(
    private readonly onShutdown: () => void,
    private readonly onError: (error: unknown) => void,
  ) {}

  /**
   * Watches the SDK behind `tracerProvider` from now on, and no other. Cheap where it is watched
   * already; cannot throw.
   */
  watch(tracerProvider: TracerProvider): void {
    try {
      const provider: Provider = sdkOf(tracerProvider);
      if (provider === this.#provider?.deref()) return;
      this.release();
      this.#provider = new WeakRef(provider);
      const wrap = wraps.get(provider);
      if (wrap !== undefined) wrap.onShutdown = this.onShutdown;
      else if (typeof provider.shutdown === 'function') this.#wrap(provider, provider.shutdown);
    } catch (error) {
      this.onError(error);
    }
  }

  /** Puts `shutdown` back; where other code has wrapped it since, the wrapper does nothing more. */
  release(): void {
    const provider = this.#provider?.deref();
    this.#provider = undefined;
    const wrap = provider && wraps.get(provider);
    if (wrap === undefined) return;
    wrap.onShutdown = undefined;
    try {
      if (provider?.shutdown !== wrap.wrapper) return;
      if (wrap.original === undefined) delete provider.shutdown;
      else Object.defineProperty(provider, 'shutdown', wrap.original);
      wraps.delete(provider);
    } catch (error) {
      this.onError(error);
    }
  }

  #wrap(provider: Provider, shutdown: (...args: unknown[]) => unknown): void {
    const original = Object.getOwnPropertyDescriptor(provider, 'shutdown');
    const { onError } = this;
    const wrap: Wrap = {
      wrapper(this: unknown, ...args) {
        attempt(() => wrap.onShutdown?.(), onError);
        return shutdown.apply(this, args);
      },
      original,
      onShutdown: this.onShutdown,
    };
    Object.defineProperty(provider, 'shutdown', {
      value: wrap.wrapper,
      writable: true,
      enumerable: original?.enumerable ?? false,
      configurable: true,
    });
    wraps.set(provider, wrap);
  }
}
