import fc from 'fast-check';
import { environmentName, resolveConfig } from '../../src/config.ts';
import type { EventLoopInstrumentationConfig } from '../../src/types.ts';

const warnings: string[] = [];
const resolve = (config: object, env: NodeJS.ProcessEnv = {}) =>
  resolveConfig(config as EventLoopInstrumentationConfig, env, (message) => warnings.push(message));

beforeEach(() => {
  warnings.length = 0;
});

const DEFAULTS = {
  enabled: true,
  thresholdMillis: 100,
  lagIntervalMillis: 20,
  captureStack: true,
  console: false,
  asyncHooks: 'auto',
  requireParentSpan: false,
  maxSpansPerMinute: 600,
  unfinishedAfterMillis: 5_000,
};

test('defaults', () => {
  expect(resolve({})).toEqual(DEFAULTS);
  expect(resolve({ thresholdMillis: undefined })).toEqual(DEFAULTS);
});

test('code wins over environment, environment over default', () => {
  const env = {
    OTEL_INSTRUMENTATION_EVENT_LOOP_ENABLED: 'false',
    OTEL_INSTRUMENTATION_EVENT_LOOP_THRESHOLD_MILLIS: '50.5',
    OTEL_INSTRUMENTATION_EVENT_LOOP_LAG_INTERVAL_MILLIS: ' 10 ',
    OTEL_INSTRUMENTATION_EVENT_LOOP_CAPTURE_STACK: 'false',
    OTEL_INSTRUMENTATION_EVENT_LOOP_ASYNC_HOOKS: 'Callbacks',
    OTEL_INSTRUMENTATION_EVENT_LOOP_REQUIRE_PARENT_SPAN: 'TRUE',
    OTEL_INSTRUMENTATION_EVENT_LOOP_MAX_SPANS_PER_MINUTE: '0',
    OTEL_INSTRUMENTATION_EVENT_LOOP_UNFINISHED_AFTER_MILLIS: '1500',
    OTEL_INSTRUMENTATION_EVENT_LOOP_CONSOLE: 'true',
  };
  expect(resolve({}, env)).toEqual({
    enabled: false,
    thresholdMillis: 50.5,
    lagIntervalMillis: 10,
    captureStack: false,
    console: true,
    asyncHooks: 'callbacks',
    requireParentSpan: true,
    maxSpansPerMinute: 0,
    unfinishedAfterMillis: 1500,
  });
  expect(resolve({ thresholdMillis: 7, asyncHooks: 'off', enabled: true }, env)).toMatchObject({
    thresholdMillis: 7,
    asyncHooks: 'off',
    enabled: true,
  });
  expect(warnings).toEqual([]);
});

test('an empty environment variable is as good as none', () => {
  expect(resolve({}, { OTEL_INSTRUMENTATION_EVENT_LOOP_THRESHOLD_MILLIS: ' ' })).toEqual(DEFAULTS);
  expect(warnings).toEqual([]);
});

test.each([
  [{ thresholdMillis: '50' }, TypeError, 'option thresholdMillis is "50", expected a number from 1 to 60000'],
  [{ thresholdMillis: 0.9 }, RangeError, 'option thresholdMillis is 0.9, expected a number from 1 to 60000'],
  [
    { thresholdMillis: 60_001 },
    RangeError,
    'option thresholdMillis is 60001, expected a number from 1 to 60000',
  ],
  [
    { thresholdMillis: Number.NaN },
    RangeError,
    'option thresholdMillis is NaN, expected a number from 1 to 60000',
  ],
  [{ thresholdMillis: null }, TypeError, 'option thresholdMillis is null, expected a number from 1 to 60000'],
  [
    { lagIntervalMillis: 1.5 },
    RangeError,
    'option lagIntervalMillis is 1.5, expected a whole number from 1 to 1000',
  ],
  [{ lagIntervalMillis: 1001 }, RangeError, 'expected a whole number from 1 to 1000'],
  [
    { maxSpansPerMinute: -1 },
    RangeError,
    'option maxSpansPerMinute is -1, expected a whole number from 0 to 60000',
  ],
  [
    { asyncHooks: 'on' },
    RangeError,
    `option asyncHooks is "on", expected one of 'auto', 'callbacks', 'promises', 'off'`,
  ],
  [{ asyncHooks: true }, TypeError, 'option asyncHooks is true, expected one of'],
  [{ requireParentSpan: 'yes' }, TypeError, 'option requireParentSpan is "yes", expected true or false'],
  [{ enabled: 1 }, TypeError, 'option enabled is 1, expected true or false'],
  [{ blockHook: {} }, TypeError, 'option blockHook is an object, expected a function'],
])('%j in code is an error that names option, value and range', (config, ErrorClass, message) => {
  expect(() => resolve(config)).toThrow(ErrorClass);
  expect(() => resolve(config)).toThrow(message);
});

test.each([null, 5, 'x'])('a config that is %p is a TypeError', (config) => {
  expect(() => resolve(config as never)).toThrow(TypeError);
});

test.each([
  ['THRESHOLD_MILLIS', 'fast', 'is "fast", expected a number from 1 to 60000; using 100'],
  ['THRESHOLD_MILLIS', '0', 'is "0", expected'],
  ['LAG_INTERVAL_MILLIS', '1e9', 'expected a whole number from 1 to 1000; using 20'],
  ['ASYNC_HOOKS', 'sometimes', `is "sometimes", expected one of`],
  ['REQUIRE_PARENT_SPAN', '1', 'is "1", expected true or false; using false'],
])('a bad %s in the environment is logged and ignored', (name, value, message) => {
  expect(resolve({}, { [`OTEL_INSTRUMENTATION_EVENT_LOOP_${name}`]: value })).toEqual(DEFAULTS);
  expect(warnings).toHaveLength(1);
  expect(warnings[0]).toContain(`OTEL_INSTRUMENTATION_EVENT_LOOP_${name} is `);
  expect(warnings[0]).toContain(message);
});

test('blockHook has no environment variable', () => {
  expect(resolve({}, { OTEL_INSTRUMENTATION_EVENT_LOOP_BLOCK_HOOK: 'x' })).toEqual(DEFAULTS);
  expect(warnings).toEqual([]);
});

test('environment names', () => {
  expect(environmentName('maxSpansPerMinute')).toBe('OTEL_INSTRUMENTATION_EVENT_LOOP_MAX_SPANS_PER_MINUTE');
});

test('whatever stands in the environment, it never throws and every option is in its range', () => {
  const names = Object.keys(DEFAULTS).map(environmentName);
  fc.assert(
    fc.property(
      fc.dictionary(fc.constantFrom(...names), fc.oneof(fc.string(), fc.float().map(String))),
      (env) => {
        const config = resolve({}, env);
        expect(config.thresholdMillis).toBeGreaterThanOrEqual(1);
        expect(config.thresholdMillis).toBeLessThanOrEqual(60_000);
        expect(Number.isInteger(config.lagIntervalMillis)).toBe(true);
        expect(['auto', 'callbacks', 'promises', 'off']).toContain(config.asyncHooks);
        // Resolving what was resolved changes nothing: setConfig may be given getConfig().
        expect(resolve(config)).toEqual(config);
      },
    ),
  );
});

test('whatever stands in code, it resolves or throws a TypeError or RangeError that names the option', () => {
  fc.assert(
    fc.property(fc.constantFrom(...Object.keys(DEFAULTS), 'blockHook'), fc.anything(), (name, value) => {
      try {
        resolve({ [name]: value });
      } catch (error) {
        expect(error instanceof TypeError || error instanceof RangeError).toBe(true);
        expect((error as Error).message).toContain(`option ${name} is `);
      }
    }),
  );
});
