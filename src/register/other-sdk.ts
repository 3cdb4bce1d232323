/**
 * Notices an SDK that the application starts itself, later than the one that was preloaded for it.
 * The api accepts only the first that is registered.
 */
import { createRequire } from 'node:module';
import * as ownApi from '@opentelemetry/api';

const SETTERS = [
  ['trace', 'setGlobalTracerProvider'],
  ['metrics', 'setGlobalMeterProvider'],
] as const;

type Api = Pick<typeof ownApi, 'trace' | 'metrics'>;

/**
 * Call it when the preloaded SDK is registered. Wraps the api's functions for registering.
 * @param comes called once; must not throw
 */
export function whenOtherSdkComes(comes: () => void): void {
  const watched = new Set<object>();
  let came = false;
  const watch = (api: Api) => {
    for (const [part, setter] of SETTERS) {
      const registry = api[part] as unknown as Record<string, (...args: unknown[]) => unknown>;
      const set = registry[setter];
      if (watched.has(registry) || set === undefined) continue;
      watched.add(registry);
      registry[setter] = (...args) => {
        if (!came) comes();
        came = true;
        return set.apply(registry, args);
      };
    }
  };
  watch(ownApi);
  // From 1.10 on, the api that is required and the one that is imported are two, with one registry.
  watch(createRequire(import.meta.url)('@opentelemetry/api'));
  import('@opentelemetry/api').then(watch, () => {});
}
