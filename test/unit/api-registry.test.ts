import { ProxyTracerProvider, trace } from '@opentelemetry/api';
import { registryOfOtherSdk } from '../../src/otel/api-registry.ts';

const REGISTRY = Symbol.for('opentelemetry.js.api.1');

afterEach(() => {
  delete (globalThis as Record<symbol, unknown>)[REGISTRY];
});

test('an SDK that is registered with a copy of the same version is ours', () => {
  trace.setGlobalTracerProvider(new ProxyTracerProvider());
  expect(registryOfOtherSdk()).toBeUndefined();
});

test('an SDK that is registered with an older copy is not ours', () => {
  (globalThis as Record<symbol, unknown>)[REGISTRY] = { version: '1.2.3', trace: {} };
  expect(registryOfOtherSdk()).toMatchObject({ version: '1.2.3' });
});
