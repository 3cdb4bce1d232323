/** One object for each thread, whichever copies of this package, ESM or CommonJS, ask for it. */
import { attempt } from './guard.ts';

/**
 * When a test file has ended, jest deletes the properties of whatever was set on `globalThis`, or
 * warns when they are read, unless the object has this property. What is left of a test that timed
 * out, or an instrumentation that stays enabled, still reads them.
 */
const KEPT_BY_JEST = Symbol.for('$$jest-protect-from-deletion');

/** Used if `globalThis` is frozen: then only this copy of the package shares the objects. */
const ofThisCopy = new Map<symbol, unknown>();

/**
 * @param key a registered symbol: the object is a property of `globalThis` under it. What the
 *   object can do is a contract between copies of the package, so a change needs a new key.
 */
export function perThread<Shared extends object>(key: symbol, create: () => Shared): Shared {
  const holder = globalThis as Record<symbol, unknown>;
  const known = holder[key] ?? ofThisCopy.get(key);
  if (known !== undefined) return known as Shared;
  const created = create();
  attempt(() => Object.defineProperty(created, KEPT_BY_JEST, { value: [] }));
  ofThisCopy.set(key, created);
  attempt(() => Object.defineProperty(holder, key, { value: created, configurable: true }));
  return created;
}
