// What `/register` has OpenTelemetry do for ES modules, and nothing else. Loaded by `--import`.
import * as nodeModule from 'node:module';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const INSTRUMENTATION = '@opentelemetry/instrumentation';
const file = createRequire(import.meta.url).resolve(INSTRUMENTATION);
const hooks =
  'registerHooks' in nodeModule
    ? createRequire(file)('import-in-the-middle/register-hooks.mjs')
    : undefined;
if (hooks?.supportsSyncHooks()) hooks.register();
else nodeModule.register(`${INSTRUMENTATION}/hook.mjs`, pathToFileURL(file).href);
