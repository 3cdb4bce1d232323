/**
 * Tells that the SDK is about to send what it has, or to shut down: afterwards it takes no spans.
 * The API has no event for it, so two methods of its tracer provider are wrapped.
 */
import type { TracerProvider } from '@opentelemetry/api';
import { attempt } from '../support/guard.ts';
import { Patch, type Wrap } from '../support/patch.ts';
import { sdkOf } from './sdk-internals.ts';

/** Called before the SDK's own, which waits for what it returns. */
type Before = () => Promise<void> | undefined;
type Method = (...args: unknown[]) => unknown;
type Patches = { readonly [name in 'shutdown' | 'forceFlush']: Patch<Method, Before> };

/** Weakly: a provider that is replaced must not stay alive because of us. */
const patches = new WeakMap<TracerProvider, Patches>();

export class SdkShutdown {
  #provider: WeakRef<TracerProvider> | undefined;
  readonly #before: { readonly [name in keyof Patches]: Before };

  /**
   * @param onShutdown called before the SDK's own `shutdown`
   * @param onFlush called before the SDK's own `forceFlush`, which waits for its promise: that must
   *   not be rejected
   * @param onError given what they throw, and what goes wrong here
   */
  constructor(
    onShutdown: () => void,
    onFlush: Before,
    private readonly onError: (error: unknown) => void,
  ) {
    this.#before = {
      shutdown: () => void attempt(onShutdown, onError),
      forceFlush: () => attempt(onFlush, onError),
    };
  }

  /**
   * Watches the SDK behind `tracerProvider` from now on, and no other. Cheap if it is watched
   * already; cannot throw.
   */
  watch(tracerProvider: TracerProvider): void {
    attempt(() => {
      const provider = sdkOf(tracerProvider);
      if (provider === this.#provider?.deref()) return;
      this.release();
      this.#provider = new WeakRef(provider);
      const ofProvider = patches.get(provider) ?? {
        shutdown: new Patch(provider, 'shutdown', wrapMethod),
        forceFlush: new Patch(provider, 'forceFlush', wrapMethod),
      };
      patches.set(provider, ofProvider);
      for (const name of METHODS) {
        const isMethod = typeof Reflect.get(provider, name) === 'function';
        if (isMethod && !ofProvider[name].apply(this.#before[name]))
          throw new TypeError(`\`${name}\` of the SDK cannot be replaced`);
      }
    }, this.onError);
  }

  release(): void {
    const provider = this.#provider?.deref();
    this.#provider = undefined;
    const ofProvider = provider && patches.get(provider);
    if (ofProvider === undefined) return;
    for (const name of METHODS)
      attempt(() => ofProvider[name].putBack(this.#before[name]), this.onError);
  }
}

const METHODS = ['shutdown', 'forceFlush'] as const;

const wrapMethod: Wrap<Method, Before> = (original, power) =>
  ({
    method(this: unknown, ...args: unknown[]) {
      const before = power.user?.();
      if (before === undefined) return original.apply(this, args);
      return before.then(() => original.apply(this, args));
    },
  }).method;
