/**
 * Lets instrumentations patch the ES modules that are imported from now on: they hook `require`
 * themselves.
 */
import * as nodeModule from 'node:module';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import type { ApplicationPackages } from './application-packages.ts';

const INSTRUMENTATION = '@opentelemetry/instrumentation';

interface SyncHooks {
  register(): void;
  supportsSyncHooks(): boolean;
}

/**
 * Only the copy that the application's instrumentations use knows what they ask for.
 * @returns in which thread modules are hooked now; undefined where they are not
 */
export function hookModules(packages: ApplicationPackages): 'same' | 'other' | undefined {
  const instrumentation = packages.resolve(INSTRUMENTATION);
  if (instrumentation === undefined) return undefined;
  const syncHooks = loadSyncHooks(instrumentation);
  if (syncHooks !== undefined) {
    syncHooks.register();
    return 'same';
  }
  nodeModule.register(`${INSTRUMENTATION}/hook.mjs`, pathToFileURL(instrumentation).href);
  return 'other';
}

/**
 * In the application's thread, where this Node.js can: `module.register` starts another one, and is
 * deprecated from Node.js 26 on (DEP0205).
 */
function loadSyncHooks(instrumentation: string): SyncHooks | undefined {
  // 22.15. Those before cannot load an ES module by `require` either.
  if (!('registerHooks' in nodeModule)) return undefined;
  try {
    const hooks = createRequire(instrumentation)(
      'import-in-the-middle/register-hooks.mjs',
    ) as SyncHooks;
    return hooks.supportsSyncHooks() ? hooks : undefined;
  } catch {
    // An import-in-the-middle before 3.
    return undefined;
  }
}
