/**
 * Whether and how the process exports spans by OTLP, as the standard environment variables say.
 * https://opentelemetry.io/docs/specs/otel/protocol/exporter/
 */

/** The variables of exporters: the watchdog's threads are given nothing else of the environment. */
export function exporterEnvironment(env: NodeJS.ProcessEnv): Record<string, string> {
  const wanted = /^(OTEL_.*|(https?|no|all)_proxy|NODE_EXTRA_CA_CERTS|SSL_CERT_(FILE|DIR))$/i;
  return Object.fromEntries(
    Object.entries(env).filter(
      (entry): entry is [string, string] => wanted.test(entry[0]) && entry[1] !== undefined,
    ),
  );
}

const ENDPOINTS = ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'];

/** An endpoint or the exporter is named in the environment, and the SDK is not switched off. */
export function exportsOtlp(env: NodeJS.ProcessEnv): boolean {
  const valueIn = (name: string) => env[name]?.trim().toLowerCase() ?? '';
  if (valueIn('OTEL_SDK_DISABLED') === 'true') return false;
  const exporters = valueIn('OTEL_TRACES_EXPORTER')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  if (exporters.length > 0) return exporters.includes('otlp');
  return ENDPOINTS.some((name) => valueIn(name) !== '');
}

const PREFIX = '@opentelemetry/exporter-trace-otlp-';

/** The packages that can export by the protocol in force, the best first. */
export function exporterPackages(env: NodeJS.ProcessEnv): string[] {
  const protocol = env['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL'] || env['OTEL_EXPORTER_OTLP_PROTOCOL'];
  switch (protocol?.trim()) {
    case 'grpc':
      return [`${PREFIX}grpc`];
    case 'http/json':
      return [`${PREFIX}http`, `${PREFIX}proto`];
    default:
      return [`${PREFIX}proto`, `${PREFIX}http`];
  }
}
