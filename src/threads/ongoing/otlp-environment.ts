/**
 * Whether and how the process exports spans and logs by OTLP, as the standard environment variables
 * say.
 * https://opentelemetry.io/docs/specs/otel/protocol/exporter/
 */

/** https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/ */
const DEFAULTS = { OTEL_TRACES_EXPORTER: 'otlp', OTEL_LOGS_EXPORTER: 'otlp' };

/**
 * The variables of exporters: the watchdog's threads are given nothing else of the environment.
 * @param hasDefaults what is not set, or empty, has its default
 */
export function exporterEnvironment(
  env: NodeJS.ProcessEnv,
  hasDefaults = false,
): Record<string, string> {
  const wanted = /^(OTEL_.*|(https?|no|all)_proxy|NODE_EXTRA_CA_CERTS|SSL_CERT_(FILE|DIR))$/i;
  const set = Object.entries(env).filter(
    (entry): entry is [string, string] => wanted.test(entry[0]) && !!entry[1]?.trim(),
  );
  return { ...(hasDefaults && DEFAULTS), ...Object.fromEntries(set) };
}

export type Signal = 'traces' | 'logs';

/** An endpoint or the exporter is named in the environment, and the SDK is not switched off. */
export function exportsOtlp(env: NodeJS.ProcessEnv, signal: Signal): boolean {
  const valueIn = (name: string) => env[name]?.trim().toLowerCase() ?? '';
  if (valueIn('OTEL_SDK_DISABLED') === 'true') return false;
  const exporters = valueIn(`OTEL_${signal.toUpperCase()}_EXPORTER`)
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  if (exporters.length > 0) return exporters.includes('otlp');
  const endpoints = [
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    `OTEL_EXPORTER_OTLP_${signal.toUpperCase()}_ENDPOINT`,
  ];
  return endpoints.some((name) => valueIn(name) !== '');
}

const PREFIXES: Readonly<Record<Signal, string>> = {
  traces: '@opentelemetry/exporter-trace-otlp-',
  logs: '@opentelemetry/exporter-logs-otlp-',
};

/** The packages that can export by the protocol in force, the best first. */
export function exporterPackages(env: NodeJS.ProcessEnv, signal: Signal): string[] {
  const protocol =
    env[`OTEL_EXPORTER_OTLP_${signal.toUpperCase()}_PROTOCOL`] ||
    env['OTEL_EXPORTER_OTLP_PROTOCOL'];
  const prefix = PREFIXES[signal];
  switch (protocol?.trim()) {
    case 'grpc':
      return [`${prefix}grpc`];
    case 'http/json':
      return [`${prefix}http`, `${prefix}proto`];
    default:
      return [`${prefix}proto`, `${prefix}http`];
  }
}
