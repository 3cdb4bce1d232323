/**
 * Lets instrumentations patch the ES modules that are imported from now on: they hook `require`
 * themselves. Only modules that they ask for are wrapped. A wrapped module has a copy of each
 * export, which does not follow when the module assigns to it later: no package that is asked for
 * is known to do that.
 */
import { existsSync } from 'node:fs';
import * as nodeModule from 'node:module';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { MessagePort } from 'node:worker_threads';
import type { ApplicationPackages } from '../../support/application-packages.ts';
import { MODULE_HOOKS_CODE } from '../../worker-code.generated.ts';
import { AskedModules } from './asked-modules.ts';
import type { ModuleHooksData } from './module-hooks.worker.ts';

const INSTRUMENTATION = '@opentelemetry/instrumentation';
const HOOKS_PACKAGE = 'import-in-the-middle';
/** What an application is started with that has its modules hooked already. */
const HOOK_FILES = [`${INSTRUMENTATION}/hook.mjs`, `${HOOKS_PACKAGE}/hook.mjs`];

interface SyncHooks {
  register(options: object): void;
  supportsSyncHooks(): boolean;
}

/** Whether the command line or `NODE_OPTIONS` has modules hooked. */
export function areModulesHooked(
  execArgv: readonly string[] = process.execArgv,
  env: NodeJS.ProcessEnv = process.env,
): boolean {
  const options = [env['NODE_OPTIONS'] ?? '', ...execArgv].join(' ').replaceAll('\\', '/');
  return HOOK_FILES.some((file) => options.includes(file));
}

/**
 * Call it before instrumentations are made, since they ask for modules then.
 * @returns begins to hook modules, and says in which thread that is; undefined if they cannot be
 *   hooked
 */
export function prepareModuleHooks(
  packages: ApplicationPackages,
): (() => 'same' | 'other') | undefined {
  if (areModulesHooked()) return () => 'other';
  // Only the copy that the application's instrumentations use knows what they ask for.
  const file = packages.resolve(HOOKS_PACKAGE, INSTRUMENTATION);
  if (file === undefined) return undefined;
  const require = createRequire(file);
  // From there on, the port gets what instrumentations ask for.
  const { createAddHookMessageChannel } = require(file) as {
    createAddHookMessageChannel?(): { addHookMessagePort: MessagePort };
  };
  if (createAddHookMessageChannel === undefined) return undefined;
  const port = createAddHookMessageChannel().addHookMessagePort;
  return () => {
    const syncHooks = loadSyncHooks(require);
    const createHook = join(dirname(file), 'create-hook.mjs');
    if (syncHooks !== undefined) {
      const asked = new AskedModules(port);
      syncHooks.register({ shouldInclude: asked.includes, include: asked.names() });
      return 'same';
    }
    if (existsSync(createHook)) {
      const data: ModuleHooksData = { createHookUrl: pathToFileURL(createHook).href, port };
      const code = `data:text/javascript,${encodeURIComponent(MODULE_HOOKS_CODE)}`;
      nodeModule.register(code, { data, transferList: [port] });
    } else {
      // Before 3.1.
      const hook = pathToFileURL(require.resolve(`${HOOKS_PACKAGE}/hook.mjs`));
      nodeModule.register(hook, { data: { include: new AskedModules(port).names() } });
    }
    return 'other';
  };
}

/**
 * In the application's thread, if this Node.js can: `module.register` starts another one, and is
 * deprecated from Node.js 26 on (DEP0205).
 */
function loadSyncHooks(require: NodeJS.Require): SyncHooks | undefined {
  // 22.15. Those before cannot load an ES module by `require` either.
  if (!('registerHooks' in nodeModule)) return undefined;
  try {
    const hooks = require(`${HOOKS_PACKAGE}/register-hooks.mjs`) as SyncHooks;
    return hooks.supportsSyncHooks() ? hooks : undefined;
  } catch {
    // An import-in-the-middle before 3.1.
    return undefined;
  }
}
