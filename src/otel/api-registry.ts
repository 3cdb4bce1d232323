/**
 * The registry that all copies of `@opentelemetry/api` share. A copy ignores it if its own minor
 * version is newer than that of the copy which registered first (`isCompatible` in the api): no
 * error, no log, but spans are missing or have no parent.
 */
import { type DiagLogger, trace } from '@opentelemetry/api';

const REGISTRY = Symbol.for('opentelemetry.js.api.1');

/** The providers that are registered, with whichever copy of the api. */
export interface ApiRegistry {
  /** The version of the copy that registered first. */
  readonly version?: string;
  readonly diag?: Pick<DiagLogger, 'warn'>;
  readonly context?: unknown;
  readonly trace?: unknown;
  readonly metrics?: unknown;
  /** From api 1.10 on; before that `@opentelemetry/api-logs` had a place of its own. */
  readonly logs?: unknown;
}

export function apiRegistry(): ApiRegistry {
  return (globalThis as { [REGISTRY]?: ApiRegistry })[REGISTRY] ?? {};
}

/**
 * Lets a copy of any version register, as the first one does: the version of an earlier copy stays
 * when nothing else is left of what it registered. Parts of others stay.
 */
export function withNewRegistry<Result>(register: () => Result): Result {
  const holder = globalThis as { [REGISTRY]?: ApiRegistry };
  const before = holder[REGISTRY];
  Reflect.deleteProperty(holder, REGISTRY);
  try {
    return register();
  } finally {
    if (before !== undefined) holder[REGISTRY] = { ...before, ...holder[REGISTRY] };
  }
}

/** The registry, if it has an SDK that this package's copy of the api does not use. */
export function registryOfOtherSdk(): ApiRegistry | undefined {
  const registry = apiRegistry();
  return registry.trace === undefined || registry.trace === trace.getTracerProvider()
    ? undefined
    : registry;
}
