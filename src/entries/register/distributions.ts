/**
 * Distributions of OpenTelemetry that are preloaded as well, in whichever order: theirs is the SDK
 * of the process.
 */
import { apiRegistry } from '../../otel/api-registry.ts';

/**
 * Their names on the command line and in `NODE_OPTIONS`, or in the path of their file. Another one,
 * such as a file of the application, is noticed when it registers an SDK.
 */
const PRELOADS = [
  '@elastic/opentelemetry-node',
  '@opentelemetry/auto-instrumentations-node/register',
  '@opentelemetry/auto-instrumentations-node/build/src/register',
  '@opentelemetry/auto-instrumentations-node/dist/register',
  '@splunk/otel/instrument',
];
const DATADOG_PRELOAD = 'dd-trace/';
/** Before the name of a package, in an option or in the path of a file. */
const BEFORE_NAME = ['=', ' ', '"', "'", '/node_modules/'];

/** Whether one of them is preloaded, now or later: the SDK of `/register` would be the second. */
export function isDistributionPreloaded(
  execArgv: readonly string[] = process.execArgv,
  env: NodeJS.ProcessEnv = process.env,
): boolean {
  const names = isDatadogProvider(env) ? [...PRELOADS, DATADOG_PRELOAD] : PRELOADS;
  const options = ` ${[env['NODE_OPTIONS'] ?? '', ...execArgv].join(' ')}`.replaceAll('\\', '/');
  return names.some((name) => BEFORE_NAME.some((before) => options.includes(before + name)));
}

/**
 * dd-trace has a tracer provider for the OpenTelemetry API and leaves it to the application to
 * register it.
 */
export function registerDatadog(env: NodeJS.ProcessEnv = process.env): void {
  const { _ddtrace: tracer } = globalThis as {
    _ddtrace?: { TracerProvider?: new () => { register(): void } };
  };
  if (!isDatadogProvider(env) || apiRegistry().trace !== undefined) return;
  if (tracer?.TracerProvider !== undefined) new tracer.TracerProvider().register();
}

function isDatadogProvider(env: NodeJS.ProcessEnv): boolean {
  return ['true', '1'].includes(env['DD_TRACE_OTEL_ENABLED']?.trim().toLowerCase() ?? '');
}
