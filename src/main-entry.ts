/**
 * The package's main entry, for `/register`, which loads it by the package's name at run time. If
 * it were bundled into another entry, there would be a second copy beside the application's, and
 * `sample/own-code.ts` could not recognize this package's code.
 */
import { createRequire } from 'node:module';
import { PACKAGE_NAME } from './version.ts';

export const main = createRequire(import.meta.url)(PACKAGE_NAME) as typeof import('./index.ts');
