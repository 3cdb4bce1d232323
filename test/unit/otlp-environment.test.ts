import {
  exporterEnvironment,
  exporterPackages,
  exportsOtlp,
} from '../../src/threads/ongoing/otlp-environment.ts';

const URL = 'http://127.0.0.1:4318';

test.each<[NodeJS.ProcessEnv, boolean, boolean]>([
  [{}, false, false],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: URL }, true, true],
  [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: URL }, true, false],
  [{ OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: URL }, false, true],
  [{ OTEL_LOGS_EXPORTER: 'console, OTLP' }, false, true],
  [{ OTEL_TRACES_EXPORTER: 'otlp' }, true, false],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: URL, OTEL_LOGS_EXPORTER: 'none' }, true, false],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: URL, OTEL_SDK_DISABLED: 'true' }, false, false],
])('%j: exports spans %p, logs %p', (env, traces, logs) => {
  expect([exportsOtlp(env, 'traces'), exportsOtlp(env, 'logs')]).toEqual([traces, logs]);
});

test.each<[NodeJS.ProcessEnv, boolean, boolean]>([
  [{}, true, true],
  [{ OTEL_TRACES_EXPORTER: ' ', OTEL_LOGS_EXPORTER: 'none' }, true, false],
  [{ OTEL_TRACES_EXPORTER: 'console' }, false, true],
  [{ OTEL_SDK_DISABLED: 'true' }, false, false],
])('%j and the defaults of the SDK: exports spans %p, logs %p', (given, traces, logs) => {
  const env = exporterEnvironment(given, true);
  expect([exportsOtlp(env, 'traces'), exportsOtlp(env, 'logs')]).toEqual([traces, logs]);
  const unknown = exporterEnvironment({ ...given, SECRET: 'x' });
  expect([exportsOtlp(unknown, 'traces'), exportsOtlp(unknown, 'logs')]).toEqual([false, false]);
  expect(unknown).not.toHaveProperty('SECRET');
});

test('the exporter is that of the signal and its protocol', () => {
  const env = {
    OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
    OTEL_EXPORTER_OTLP_LOGS_PROTOCOL: 'http/json',
  };
  expect(exporterPackages(env, 'traces')).toEqual(['@opentelemetry/exporter-trace-otlp-grpc']);
  expect(exporterPackages(env, 'logs')).toEqual([
    '@opentelemetry/exporter-logs-otlp-http',
    '@opentelemetry/exporter-logs-otlp-proto',
  ]);
});
