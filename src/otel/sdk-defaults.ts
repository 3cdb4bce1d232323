/**
 * Whether the SDK is one that `/register` has made from the environment. Then a variable that is
 * not set has the default of the specification; otherwise nobody knows what the SDK was given in
 * code.
 */
import { perThread } from '../support/per-thread.ts';
import { PACKAGE_NAME } from '../version.ts';

const KEY = Symbol.for(`${PACKAGE_NAME}.sdk-defaults.v1`);

export const sdkDefaults = () => perThread(KEY, () => ({ areInForce: false }));
