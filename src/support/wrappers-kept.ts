/**
 * Whether built-ins stay wrapped while the instrumentation is disabled. Where `/register` waits for
 * the application to be loaded, what is loaded meanwhile takes references to them and to the
 * functions of native add-ons (`import { hashSync } from '@node-rs/argon2'`).
 */
import { PACKAGE_NAME } from '../version.ts';
import { perThread } from './per-thread.ts';

/** Shared by the entries of the package. */
export const wrappersKept = () =>
  perThread(Symbol.for(`${PACKAGE_NAME}.wrappers-kept.v1`), () => ({ isWanted: false }));
