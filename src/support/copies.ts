/**
 * What copies of this package in a thread know of each other: an application may have two in its
 * tree, and `/register` is a file of its own. There are three objects: the facts below, the
 * listeners of `process`, and the stalls.
 */
import type { EventLoopHealth } from '../types.ts';
import { PACKAGE_NAME } from '../version.ts';
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
 * @param name the object is a property of `globalThis` under a symbol of this name. What the object
 *   can do is a contract between copies of the package, so a change needs a new name.
 */
export function perThread<Shared extends object>(name: string, create: () => Shared): Shared {
  const holder = globalThis as Record<symbol, unknown>;
  const key = Symbol.for(`${PACKAGE_NAME}.${name}`);
  const known = holder[key] ?? ofThisCopy.get(key);
  if (known !== undefined) return known as Shared;
  const created = create();
  attempt(() => Object.defineProperty(created, KEPT_BY_JEST, { value: [] }));
  ofThisCopy.set(key, created);
  attempt(() => Object.defineProperty(holder, key, { value: created, configurable: true }));
  return created;
}

/** The session of an instance, as any copy of the package may ask it. None of it throws. */
interface ActiveSession {
  health(windowMillis: number): EventLoopHealth | undefined;
  /** Reports what has ended, the running callback included, for a process that exits. */
  settle(): void;
  /** Writes what it writes at the end of a process, which a signal ends without an `exit` event. */
  endBySignal(): void;
}

export interface Claimant {
  activate(): void;
  deactivate(): void;
  /** Undefined if it is not active. */
  session(): ActiveSession | undefined;
  /** True for the entry `/console`: active only while no instance is enabled. */
  readonly yields?: boolean;
}

export const copies = () =>
  perThread('copies.v1', () => ({
    /** All that are enabled, in that order: the last one is active. */
    instances: [] as Claimant[],
    /** `/register` may be preloaded twice, by `NODE_OPTIONS` and on the command line. */
    isRegistered: false,
    /** `/console` reports: then nothing else does. */
    isConsoleReporting: false,
    /** Anything publishes requests, or has published them. */
    areRequestsKnown: false,
    /**
     * `/register` has made the SDK from the environment. Then a variable that is not set has the
     * default of the specification; otherwise nobody knows what the SDK was given in code.
     */
    isSdkOfEnvironment: false,
    /**
     * Built-ins stay wrapped while the instrumentation is disabled. While `/register` waits for the
     * application to be loaded, what is loaded meanwhile takes references to them and to the
     * functions of native add-ons (`import { hashSync } from '@node-rs/argon2'`).
     */
    areWrappersKept: false,
    /** Puts back what a copy of the package has kept, unless that is enabled. */
    putBack: new Set<() => void>(),
    /** That of the report page. */
    recorder: undefined as object | undefined,
    /** Writes the report page of this thread; throws what the file system says. */
    writeReport: undefined as ((path: string) => void) | undefined,
  }));

/** The wrappers of copies that are not enabled are put back. */
export function putBackKeptWrappers(): void {
  const { putBack } = copies();
  for (const each of putBack) each();
  putBack.clear();
}
