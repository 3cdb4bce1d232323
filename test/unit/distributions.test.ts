/** Which preloads are known to bring an SDK, and dd-trace, which has to be registered. */
import { trace } from '@opentelemetry/api';
import {
  isDistributionPreloaded,
  registerDatadog,
} from '../../src/entries/register/distributions.ts';

const OURS = 'opentelemetry-instrumentation-event-loop/register';

afterEach(() => trace.disable());

test.each([
  [['--import', OURS, '--import', '@elastic/opentelemetry-node'], {}],
  [['--import=@opentelemetry/auto-instrumentations-node/register', `--import=${OURS}`], {}],
  [['-r', '/app/node_modules/@splunk/otel/instrument.js'], {}],
  [['-r', 'C:\\app\\node_modules\\@splunk\\otel\\instrument.js'], {}],
  [[], { NODE_OPTIONS: `--import="@elastic/opentelemetry-node" --import ${OURS}` }],
  [['--import', 'dd-trace/initialize.mjs'], { DD_TRACE_OTEL_ENABLED: 'true' }],
])('%j with %j brings one', (execArgv, env) => {
  expect(isDistributionPreloaded(execArgv, env)).toBe(true);
});

test.each([
  [['--import', OURS], {}],
  [['--import', './my-@elastic/opentelemetry-node'], {}],
  [['--import', 'dd-trace/initialize.mjs'], {}],
  [['--import', '@opentelemetry/instrumentation/hook.mjs'], { NODE_OPTIONS: '--no-warnings' }],
])('%j with %j brings none', (execArgv, env) => {
  expect(isDistributionPreloaded(execArgv, env)).toBe(false);
});

describe('dd-trace', () => {
  const register = jest.fn();
  const global = globalThis as { _ddtrace?: object };
  beforeEach(() => {
    register.mockClear();
    global._ddtrace = {
      TracerProvider: class {
        register = register;
      },
    };
  });
  afterEach(() => {
    delete global._ddtrace;
  });

  test('is registered if it is to be the provider', () => {
    registerDatadog({ DD_TRACE_OTEL_ENABLED: ' TRUE ' });
    expect(register).toHaveBeenCalledTimes(1);
  });

  test('is left alone if it is not asked for, if it is absent, beside an SDK', () => {
    registerDatadog({});
    registerDatadog({ DD_TRACE_OTEL_ENABLED: 'false' });
    trace.setGlobalTracerProvider({ getTracer: () => trace.getTracer('') });
    registerDatadog({ DD_TRACE_OTEL_ENABLED: 'true' });
    expect(register).not.toHaveBeenCalled();
    trace.disable();
    delete global._ddtrace;
    registerDatadog({ DD_TRACE_OTEL_ENABLED: 'true' });
  });
});
