/**
 * The package's main entry, for `/register`. Asked for by name at run time: bundled into another
 * entry it would not be the one module that `sample/own-code.ts` takes it for, and a second copy
 * beside the application's.
 */
import { createRequire } from 'node:module';
import { PACKAGE_NAME } from './version.ts';

export const main = createRequire(import.meta.url)(PACKAGE_NAME) as typeof import('./index.ts');
