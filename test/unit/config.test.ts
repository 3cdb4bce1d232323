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
  nativeCalls: true,
  requireParentSpan: false,
  sourceMaps: true,
  reportSource: true,
  recordNames: true,
  maxSpansPerMinute: 600,
  blockEvents: 'unsampled',
  unfinishedAfterMillis: 5_000,
};

/** Each option as it stands in the environment, and what it is then. */
const OPTIONS: Record<string, [inEnvironment: string, value: unknown]> = {
  enabled: ['false', false],
  thresholdMillis: ['50.5', 50.5],
  lagIntervalMillis: [' 10 ', 10],
  captureStack: ['false', false],
  nativeCalls: ['false', false],
  sourceMaps: ['false', false],
  inApp: ['src, node_modules/@acme/', ['src', 'node_modules/@acme/']],
  asyncHooks: ['Always', 'always'],
  requireParentSpan: ['TRUE', true],
  maxSpansPerMinute: ['0', 0],
  unfinishedAfterMillis: ['1500', 1500],
  blockEvents: ['ALL', 'all'],
  reportSource: ['false', false],
  recordFile: ['blocks-{pid}.jsonl', 'blocks-{pid}.jsonl'],
  recordNames: ['false', false],
  console: ['true', true],
};
const CONFIGURED = Object.fromEntries(
  Object.entries(OPTIONS).map(([name, [, value]]) => [name, value]),
);

test('code wins over environment, environment over default', () => {
  const env = Object.fromEntries(
    Object.entries(OPTIONS).map(([name, [text]]) => [environmentName(name), text]),
  );
  expect(env).toHaveProperty('OTEL_INSTRUMENTATION_EVENT_LOOP_UNFINISHED_AFTER_MILLIS');
  expect(resolve({}, env)).toEqual(CONFIGURED);
  expect(resolve({ thresholdMillis: 7, asyncHooks: 'auto', enabled: true }, env)).toEqual({
    ...CONFIGURED,
    thresholdMillis: 7,
    asyncHooks: 'auto',
    enabled: true,
  });
  expect(warnings).toEqual([]);
});

const A_THRESHOLD = 'a number from 1 to 60000';

test.each([
  ['thresholdMillis', '50', TypeError, '"50"', A_THRESHOLD],
  ['thresholdMillis', 0.9, RangeError, '0.9', A_THRESHOLD],
  ['thresholdMillis', 60_001, RangeError, '60001', A_THRESHOLD],
  ['thresholdMillis', Number.NaN, RangeError, 'NaN', A_THRESHOLD],
  ['thresholdMillis', null, TypeError, 'null', A_THRESHOLD],
  ['lagIntervalMillis', 1.5, RangeError, '1.5', 'a whole number from 1 to 1000'],
  ['lagIntervalMillis', 1001, RangeError, '1001', 'a whole number from 1 to 1000'],
  ['maxSpansPerMinute', -1, RangeError, '-1', 'a whole number from 0 to 60000'],
  ['asyncHooks', 'on', RangeError, '"on"', "'auto' or 'always'"],
  ['asyncHooks', true, TypeError, 'true', "'auto' or 'always'"],
  ['requireParentSpan', 'yes', TypeError, '"yes"', 'true or false'],
  ['enabled', 1, TypeError, '1', 'true or false'],
  ['blockEvents', 'sampled', RangeError, '"sampled"', "'unsampled', 'all' or 'off'"],
  ['blockEvents', true, TypeError, 'true', "'unsampled', 'all' or 'off'"],
  ['blockHook', {}, TypeError, 'an object', 'a function'],
  ['ignoreBlockHook', 'idle', TypeError, '"idle"', 'a function'],
])('%s: %p in code is an error', (name, value, ErrorClass, given, range) => {
  expect(() => resolve({ [name]: value })).toThrow(ErrorClass);
  expect(() => resolve({ [name]: value })).toThrow(`option ${name} is ${given}, expected ${range}`);
});

test('an unknown variable is warned of, with the nearest known one', () => {
  const env = Object.fromEntries(
    ['THRESHOLD_MILIS', 'HEALTH_SERVER_PORT', 'WORKERS', 'LAG_INTERVAL_MILLIS'].map((name) => [
      `OTEL_INSTRUMENTATION_EVENT_LOOP_${name}`,
      '50',
    ]),
  );
  expect(resolve({}, { ...env, OTEL_THRESHOLD: '5' })).toMatchObject({ thresholdMillis: 100 });
  expect(warnings).toEqual([
    'the environment has no option "OTEL_INSTRUMENTATION_EVENT_LOOP_THRESHOLD_MILIS"; ' +
      'the nearest is OTEL_INSTRUMENTATION_EVENT_LOOP_THRESHOLD_MILLIS',
    'the environment has no option "OTEL_INSTRUMENTATION_EVENT_LOOP_HEALTH_SERVER_PORT"; ' +
      'the nearest is OTEL_INSTRUMENTATION_EVENT_LOOP_HEALTH_PORT',
  ]);
});

test.each([
  ['threshold', 'thresholdMillis'],
  ['treshold', 'thresholdMillis'],
  ['lag', 'lagIntervalMillis'],
  ['HOOKS', 'asyncHooks'],
  ['lagInterval', 'lagIntervalMillis'],
  ['asynchooks', 'asyncHooks'],
  ['reportPath', 'reportFile'],
  ['x'.repeat(1e6), ''],
])('the unknown option %.20s is warned of, with the nearest known one', (name, nearest) => {
  expect(resolve({ [name]: 50 })).toMatchObject(DEFAULTS);
  expect(warnings).toHaveLength(1);
  expect(warnings[0]).toMatch(/^config has no option ".{1,82}"; the nearest is /);
  expect(warnings[0]).toContain(nearest);
});

describe('healthServer', () => {
  const HEALTH = {
    host: '127.0.0.1',
    failAfterMillis: 30_000,
    maxBlockedMillis: 300_000,
  };

  test('each of its options has its environment variable; code wins', () => {
    const env = {
      OTEL_INSTRUMENTATION_EVENT_LOOP_HEALTH_PORT: ' 9090 ',
      OTEL_INSTRUMENTATION_EVENT_LOOP_HEALTH_HOST: '0.0.0.0',
      OTEL_INSTRUMENTATION_EVENT_LOOP_HEALTH_FAIL_AFTER_MILLIS: '45000',
      OTEL_INSTRUMENTATION_EVENT_LOOP_HEALTH_MAX_BLOCKED_MILLIS: '90000',
    };
    const ofEnvironment = {
      port: 9090,
      host: '0.0.0.0',
      failAfterMillis: 45_000,
      maxBlockedMillis: 90_000,
    };
    expect(resolve({}, env).healthServer).toEqual(ofEnvironment);
    const ofBoth = resolve({ healthServer: { port: 9091, x: 1 } }, env);
    expect(ofBoth.healthServer).toEqual({ ...ofEnvironment, port: 9091 });
    expect(resolve({ healthServer: { port: 1 } }).healthServer).toEqual({ ...HEALTH, port: 1 });
    // setConfig may be given getConfig().
    expect(resolve(ofBoth)).toEqual(ofBoth);
    expect(warnings).toEqual(['option healthServer has no option "x"; the nearest is port']);
  });

  test.each([
    ['healthServer', 9090, TypeError, 'healthServer is 9090, expected an object'],
    ['healthServer', null, TypeError, 'healthServer is null, expected an object'],
    ['port', '9090', TypeError, 'port is "9090", expected a whole number from 1 to 65535'],
    ['port', 0, RangeError, 'port is 0, expected a whole number from 1 to 65535'],
    ['port', 90.5, RangeError, 'port is 90.5, expected a whole number from 1 to 65535'],
    ['host', '', RangeError, 'host is "", expected a host name or an address'],
    ['host', 7, TypeError, 'host is 7, expected a host name or an address'],
    ['failAfterMillis', 99, RangeError, 'failAfterMillis is 99, expected a number from 100 to'],
    ['maxBlockedMillis', 99, RangeError, 'maxBlockedMillis is 99, expected a number from 100 to'],
    ['maxBlockedMillis', '1', TypeError, 'maxBlockedMillis is "1", expected a number from 100 to'],
  ])('%s %p throws', (name, value, ErrorClass, message) => {
    const isWhole = name === 'healthServer';
    const config = { healthServer: isWhole ? value : { [name]: value } };
    expect(() => resolve(config)).toThrow(ErrorClass);
    const whole = `EventLoopInstrumentation: option ${isWhole ? '' : 'healthServer.'}${message}`;
    expect(() => resolve(config)).toThrow(whole);
  });

  test('a bad value in the environment is named and ignored', () => {
    const env = { OTEL_INSTRUMENTATION_EVENT_LOOP_HEALTH_PORT: '70000' };
    expect(resolve({}, env)).toEqual(DEFAULTS);
    expect(warnings).toEqual([
      'OTEL_INSTRUMENTATION_EVENT_LOOP_HEALTH_PORT is "70000", ' +
        'expected a whole number from 1 to 65535; using undefined',
    ]);
  });
});

test('with any environment it never throws and every option is in its range', () => {
  const names = Object.keys(DEFAULTS).map(environmentName);
  fc.assert(
    fc.property(
      fc.dictionary(fc.constantFrom(...names), fc.oneof(fc.string(), fc.float().map(String))),
      (env) => {
        const config = resolve({}, env);
        expect(config.thresholdMillis).toBeGreaterThanOrEqual(1);
        expect(config.thresholdMillis).toBeLessThanOrEqual(60_000);
        expect(Number.isInteger(config.lagIntervalMillis)).toBe(true);
        expect(['auto', 'always']).toContain(config.asyncHooks);
        // Resolving what was resolved changes nothing: setConfig may be given getConfig().
        expect(resolve(config)).toEqual(config);
      },
    ),
  );
});

describe('with any options in code', () => {
  const names = [...Object.keys(DEFAULTS), 'blockHook'];
  const mustNotRun = (): never => {
    throw new Error('code of the value was run');
  };
  /** Values that do something when they are shown, converted or inspected. */
  const HOSTILE: unknown[] = [
    {
      toString: mustNotRun,
      valueOf: mustNotRun,
      toJSON: mustNotRun,
      [Symbol.toPrimitive]: mustNotRun,
    },
    {
      get [Symbol.toStringTag]() {
        return mustNotRun();
      },
    },
    new Proxy(
      {},
      { get: mustNotRun, has: mustNotRun, ownKeys: mustNotRun, getPrototypeOf: mustNotRun },
    ),
    (() => {
      const { proxy, revoke } = Proxy.revocable([], {});
      revoke();
      return proxy;
    })(),
    Object.create(null),
    Symbol('odd'),
    10n,
    new Number(50), // an object, not a number
    new String('off'),
    [50],
    new Date(50),
    -0,
    Number.MIN_VALUE,
    Number.NEGATIVE_INFINITY,
    '\u0000'.repeat(10_000),
    '\ud800',
  ];
  // In a function, or fast-check would inspect them itself.
  const anything = fc.oneof(
    fc
      .oneof(
        fc.anything({
          withBigInt: true,
          withDate: true,
          withNullPrototype: true,
          withBoxedValues: true,
        }),
        fc.double(),
        fc.constantFrom(0, 1, 999.5, 1000, 1001, 60_000, 60_000.1, 3_600_000, 3_600_001),
      )
      .map((value) => () => value),
    fc.constantFrom(...HOSTILE.map((value) => () => value)),
  );
  const RANGES: Record<string, RegExp> = {
    enabled: /expected true or false$/,
    captureStack: /expected true or false$/,
    nativeCalls: /expected true or false$/,
    sourceMaps: /expected true or false$/,
    reportSource: /expected true or false$/,
    recordFile: /expected a path$/,
    recordNames: /expected true or false$/,
    console: /expected true, false or 'json'$/,
    requireParentSpan: /expected true or false$/,
    asyncHooks: /expected 'auto' or 'always'$/,
    blockEvents: /expected 'unsampled', 'all' or 'off'$/,
    blockHook: /expected a function$/,
  };

  test('it resolves to what was given, or throws a TypeError or RangeError with option, value and range', () => {
    fc.assert(
      fc.property(fc.constantFrom(...names), anything, (name, getValue) => {
        const value = getValue();
        try {
          const resolved = resolve({ [name]: value }) as Record<string, unknown>;
          if (value !== undefined) expect(Object.is(resolved[name], value)).toBe(true);
        } catch (error) {
          expect(error instanceof TypeError || error instanceof RangeError).toBe(true);
          const { message } = error as Error;
          expect(message).toContain(`EventLoopInstrumentation: option ${name} is `);
          expect(message).toMatch(RANGES[name] ?? /expected a (whole )?number from \d+ to \d+$/);
          expect(message.length).toBeLessThan(400);
        }
      }),
      { numRuns: 2000 },
    );
  });

  test('many options at once: the first bad one is named, with any others', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...names), anything), (getters) => {
        const config = Object.fromEntries(
          Object.entries(getters).map(([name, get]) => [name, get()]),
        );
        try {
          expect(resolve(resolve(config))).toEqual(resolve(config));
        } catch (error) {
          expect((error as Error).message).toMatch(
            /^EventLoopInstrumentation: option \w+ is .*, expected /s,
          );
        }
      }),
    );
  });
});

test('a function behind a proxy is as good as the function', () => {
  const blockHook = new Proxy(() => {}, {});
  expect(resolve({ blockHook }).blockHook).toBe(blockHook);
});
