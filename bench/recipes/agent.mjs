// Preloaded for what OpenTelemetry costs without this package: its agent, with ES modules hooked
// as `/register` hooks them. The agent by itself leaves them out: one span for a request of
// Directus in the place of ten.
import { createRequire, register } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { OWN_FOLDER } from './own-folder.mjs';

const AGENT = '@opentelemetry/auto-instrumentations-node';
const require = createRequire(join(OWN_FOLDER, 'node_modules', AGENT, 'package.json'));
// The copy that the instrumentations use.
const hooks = createRequire(require.resolve('@opentelemetry/instrumentation'));
const { createAddHookMessageChannel } = hooks('import-in-the-middle');
const { registerOptions, waitForAllMessagesAcknowledged } = createAddHookMessageChannel();
const hook = pathToFileURL(hooks.resolve('import-in-the-middle/hook.mjs'));
register(hook, registerOptions);
require(`${AGENT}/register`);
await waitForAllMessagesAcknowledged();
