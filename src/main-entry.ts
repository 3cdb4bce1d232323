/**
 * The package's main entry, for its other ones. Asked for by name at run time: bundled into another
 * entry it would not be the one module that `own-code.ts` takes it for, and a second copy beside
 * the application's.
 */
import { createRequire } from 'node:module';
import { PACKAGE_NAME } from './version.ts';

export const { BLOCK_CHANNEL, EventLoopInstrumentation, EventLoopSpanProcessor } = createRequire(
  import.meta.url,
)(PACKAGE_NAME) as typeof import('./index.ts');
