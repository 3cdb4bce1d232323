import { context, diag, propagation, trace } from '@opentelemetry/api';
import { NodeSDK } from '@opentelemetry/sdk-node';
import { EventLoopInstrumentation } from '../../src/index.ts';
import { globalLoggerProvider, type LogRecord } from '../../src/otel/logs.ts';
import { PACKAGE_NAME, PACKAGE_VERSION } from '../../src/version.ts';

// Where providers are registered: by api 1.10, and by `@opentelemetry/api-logs` before it.
const API = Symbol.for('opentelemetry.js.api.1');
const API_LOGS = Symbol.for('io.opentelemetry.js.api.logs');
const globals = globalThis as Record<symbol, unknown>;

/** A provider that keeps what its loggers are given. */
function keeping() {
  const records: LogRecord[] = [];
  const scopes: unknown[][] = [];
  const provider = {
    getLogger: (...scope: unknown[]) => {
      scopes.push(scope);
      return { emit: (record: LogRecord) => void records.push(record), enabled: () => true };
    },
  };
  return { provider, records, scopes };
}

class Emitting extends EventLoopInstrumentation {
  constructor() {
    super({ enabled: false });
  }
  emit(body: string): void {
    this.logger.emit({ body });
  }
  isLoggerEnabled(): boolean | undefined {
    return this.logger.enabled?.();
  }
}

const withApiLogs = (provider: unknown) => {
  globals[API_LOGS] = (version: number) => (version === 1 ? provider : undefined);
};

afterEach(() => {
  for (const api of [context, propagation, trace, diag]) api.disable();
  delete globals[API];
  delete globals[API_LOGS];
});

test('without a provider a record goes nowhere, and is not asked for', () => {
  const instrumentation = new Emitting();
  instrumentation.emit('lost');
  expect(instrumentation.isLoggerEnabled()).toBe(false);
  expect(globalLoggerProvider()).toBeUndefined();
});

test('the provider of api-logs is followed, although it is registered later', () => {
  const instrumentation = new Emitting();
  const { provider, records, scopes } = keeping();
  withApiLogs(provider);
  instrumentation.emit('heard');
  expect(records).toEqual([{ body: 'heard' }]);
  expect(scopes).toEqual([[PACKAGE_NAME, PACKAGE_VERSION]]);
});

test('the provider of api 1.10 is followed', () => {
  const { provider, records } = keeping();
  globals[API] = { version: '1.10.0', logs: provider };
  new Emitting().emit('heard');
  expect(records).toEqual([{ body: 'heard' }]);
});

test('a provider that is given comes before the global one', () => {
  const [given, global] = [keeping(), keeping()];
  withApiLogs(global.provider);
  const instrumentation = new Emitting();
  instrumentation.setLoggerProvider(given.provider);
  instrumentation.emit('heard');
  expect(given.records).toEqual([{ body: 'heard' }]);
  expect(global.records).toEqual([]);
});

test('NodeSDK registers its provider after it has set up instrumentations: it is followed', async () => {
  const instrumentation = new Emitting();
  const records: unknown[] = [];
  const sdk = new NodeSDK({
    autoDetectResources: false,
    metricReaders: [],
    spanProcessors: [],
    logRecordProcessors: [
      {
        onEmit: ({ body, instrumentationScope: { name } }) => void records.push([name, body]),
        forceFlush: async () => {},
        shutdown: async () => {},
      },
    ],
    instrumentations: [instrumentation],
  });
  sdk.start();
  instrumentation.emit('heard');
  await sdk.shutdown();
  expect(records).toEqual([[PACKAGE_NAME, 'heard']]);
});
