import { ProxyTracerProvider, trace } from '@opentelemetry/api';
import { registryOfOtherSdk, withNewRegistry } from '../../src/otel/api-registry.ts';

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

describe('a copy that registers anew', () => {
  const holder = globalThis as { [REGISTRY]?: object };

  test('has its version, and leaves what others have registered', () => {
    holder[REGISTRY] = { version: '1.2.3', diag: 'theirs' };
    const result = withNewRegistry(() => {
      expect(holder[REGISTRY]).toBeUndefined();
      holder[REGISTRY] = { version: '1.1.0', trace: 'new' };
      return 'registered';
    });
    expect(result).toBe('registered');
    expect(holder[REGISTRY]).toEqual({ version: '1.1.0', diag: 'theirs', trace: 'new' });
  });

  test('and fails, changes nothing', () => {
    holder[REGISTRY] = { version: '1.2.3' };
    expect(() =>
      withNewRegistry(() => {
        throw new Error('not registered');
      }),
    ).toThrow('not registered');
    expect(holder[REGISTRY]).toEqual({ version: '1.2.3' });
    delete holder[REGISTRY];
    withNewRegistry(() => {});
    expect(holder[REGISTRY]).toBeUndefined();
  });
});
