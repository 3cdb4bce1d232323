// Two copies of the package in one process, as of two versions. Its ES module and its CommonJS
// module are the same copy.
import { createRequire } from 'node:module';
import path from 'node:path';
import { EventLoopInstrumentation as FromImport } from 'opentelemetry-instrumentation-event-loop';
import telemetry from './support/telemetry.cjs';

const NAME = 'opentelemetry-instrumentation-event-loop';
const require = createRequire(import.meta.url);
const { alone, block, eventLoopConfig, finish, note, startSdk } = telemetry;

note('import and require give one copy', require(NAME).EventLoopInstrumentation === FromImport);
const folder = path.dirname(require.resolve(NAME));
for (const file of Object.keys(require.cache))
  if (file.startsWith(folder)) delete require.cache[file];
const { EventLoopInstrumentation: FromCopy } = require(NAME);

const reports = [];
const config = (name) => eventLoopConfig({ blockHook: () => reports.push(name) });

const copied = new FromCopy(config('copy'));
const imported = new FromImport(config('import'));
const sdk = startSdk({ instrumentations: [copied, imported] });

note('are two copies', FromImport !== FromCopy);
await alone(() => block('both', 150));
imported.disable();
await alone(() => block('one disabled', 150));
await copied.forceFlush();
note('reports', reports);
await finish(sdk);
