// Two copies of the package, as its ES module and its CommonJS module are in one process.
import { createRequire } from 'node:module';
import { EventLoopInstrumentation as FromImport } from 'opentelemetry-instrumentation-event-loop';
import telemetry from './support/telemetry.cjs';

const require = createRequire(import.meta.url);
const {
  EventLoopInstrumentation: FromRequire,
} = require('opentelemetry-instrumentation-event-loop');
const { alone, block, eventLoopConfig, finish, note, startSdk } = telemetry;

const reports = [];
const config = (name) => eventLoopConfig({ blockHook: () => reports.push(name) });

const required = new FromRequire(config('require'));
const imported = new FromImport(config('import'));
const sdk = startSdk({ instrumentations: [required, imported] });

note('are two copies', FromImport !== FromRequire);
await alone(() => block('both', 150));
imported.disable();
await alone(() => block('one disabled', 150));
note('reports', reports);
await finish(sdk);
