/**
 * Copies of `@opentelemetry/api` share one registry. A copy ignores it where its own minor version is newer than that of the copy which
 * registered first (`isCompatible` in the api): no error, no log, only spans that are missing or have no parent.
 */
import { type DiagLogger, trace } from '@opentelemetry/api';

const REGISTRY = Symbol.for('opentelemetry.js.api.1');

export interface UnseenSdk {
  /** Of the copy that it is registered with. */
  readonly version: string | undefined;
  readonly diag: Pick<DiagLogger, 'warn'> | undefined;
}

/** The SDK that is registered with another copy, where this package's copy does not see it. */
export function unseenSdk(): UnseenSdk | undefined {
  type Registry = UnseenSdk & { readonly trace?: unknown };
  const registry = (globalThis as { [REGISTRY]?: Registry })[REGISTRY];
  if (registry?.trace === undefined || registry.trace === trace.getTracerProvider()) return undefined;
  return registry;
}
