/**
 * Whether built-ins stay wrapped while the instrumentation is disabled. While `/register` waits for
 * the application to be loaded, what is loaded meanwhile takes references to them and to the
 * functions of native add-ons (`import { hashSync } from '@node-rs/argon2'`).
 */
import { PACKAGE_NAME } from '../version.ts';
import { perThread } from './per-thread.ts';

/** Shared by the entries and copies of the package. */
export const wrappersKept = () =>
  perThread(Symbol.for(`${PACKAGE_NAME}.wrappers-kept.v1`), () => ({
    isWanted: false,
    /** Puts back what a copy of the package has kept, unless that is enabled. */
    putBack: new Set<() => void>(),
  }));

/** The wrappers of copies that are not enabled are put back. */
export function putBackKeptWrappers(): void {
  const { putBack } = wrappersKept();
  for (const each of putBack) each();
  putBack.clear();
}
