/**
 * An SDK that the application starts itself, later than the one that was preloaded for it. The api
 * accepts only the first that is registered, and the application's has to take precedence.
 */
import { createRequire } from 'node:module';
import * as ownApi from '@opentelemetry/api';
import { apiRegistry, withNewRegistry } from '../../otel/api-registry.ts';
import { attempt } from '../../support/guard.ts';

/** What an SDK registers, and how. `logs` has an api of its own before api 1.10. */
const SETTERS = {
  context: 'setGlobalContextManager',
  propagation: 'setGlobalPropagator',
  trace: 'setGlobalTracerProvider',
  metrics: 'setGlobalMeterProvider',
  logs: 'setGlobalLoggerProvider',
} as const;

type Part = keyof typeof SETTERS;
const PARTS = Object.keys(SETTERS) as Part[];
type Api = Partial<Record<Part, { disable(): void; [setter: string]: unknown }>>;

/**
 * Call it when the preloaded SDK is registered. Wraps the api's functions for registering, and
 * nothing that runs later. Errors go to `onError`: the application, which registers its SDK, must
 * not notice. A tracer provider is an SDK, and takes the place of all parts. A propagator, a meter
 * provider or a context manager alone takes the place of that part, and spans are sent as before.
 * @param events `comes`: a tracer provider is about to be registered, and what was there before is
 *   unregistered; `registered`: the application has registered one more part
 * @param otherApi another copy of the api, which the application has
 */
export function watchForOtherSdk(
  events: { comes(): void; registered(): void },
  onError: (error: unknown) => void,
  otherApi?: object,
): void {
  const apis = new Set<Api>();
  /** Parts that are the application's, or nobody's. */
  const left = new Set<Part>();
  const leave = (part: Part) => {
    if (left.has(part)) return;
    left.add(part);
    // What is not registered stays as it is: code that uses it gets it when it is registered.
    if (!(part in apiRegistry())) return;
    for (const api of apis) attempt(() => api[part]?.disable(), onError);
  };
  const watch = (api: Api) => {
    if (apis.has(api)) return;
    apis.add(api);
    for (const [part, setter] of Object.entries(SETTERS) as [Part, string][]) {
      const registry = api[part];
      const set = registry?.[setter];
      if (registry === undefined || typeof set !== 'function') continue;
      registry[setter] = (...args: unknown[]) => {
        const isSdk = part === 'trace' && !left.has(part);
        for (const each of isSdk ? PARTS : [part]) leave(each);
        if (isSdk) attempt(() => events.comes(), onError);
        const call = () => set.apply(registry, args);
        const result = isSdk ? withNewRegistry(call) : call();
        attempt(() => events.registered(), onError);
        return result;
      };
    }
  };
  watch(asApi(ownApi));
  // From 1.10 on, the api that is required and the one that is imported are two, with one registry.
  watch(asApi(createRequire(import.meta.url)('@opentelemetry/api')));
  if (otherApi !== undefined && 'trace' in otherApi) watch(asApi(otherApi));
  import('@opentelemetry/api').then(
    (api) => watch(asApi(api)),
    () => {},
  );
}

/** The registries of a copy, which are one object each, however it was loaded. */
const known = new WeakMap<object, Api>();
function asApi(api: object): Api {
  const registries = api as Api;
  const key = registries.trace as object;
  const first = known.get(key) ?? registries;
  known.set(key, first);
  return first;
}
