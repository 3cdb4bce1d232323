import { createOriginOf, problemOfPaths } from '../../../src/core/explain/name/in-app.ts';

// The paths in here are those of POSIX, wherever the tests run.
jest.mock('node:path', () => jest.requireActual<typeof import('node:path')>('node:path').posix);

describe('by default', () => {
  const originOf = createOriginOf();

  test.each([
    ['/var/runtime/index.mjs'],
    ['/app/node_modules/express/lib/router/layer.js'],
    ['/app/node_modules/fastify/lib/handle-request.js'],
    ['/app/node_modules/@nestjs/core/router/router-execution-context.js'],
    ['/app/node_modules/next/dist/server/base-server.js'],
    ['/app/.next/server/vendor-chunks/next.js'],
    ['/app/.next/server/webpack-runtime.js'],
    ['/app/.next/server/chunks/ssr/[turbopack]_runtime.js'],
    ['[turbopack]/shared/runtime/runtime-utils.ts'],
    ['/app/.next/server/chunks/ssr/node_modules_next_dist_esm_build_templates_pages_1a2b.js'],
  ])('%s dispatches to others', (file) => expect(originOf(file)).toBe('dispatcher'));

  test.each([
    ['/app/node_modules/require-in-the-middle/index.js'],
    ['/app/node_modules/import-in-the-middle/index.js'],
    ['/app/node_modules/@opentelemetry/instrumentation-http/build/src/http.js'],
    ['/app/node_modules/.pnpm/@sentry+node@9/node_modules/@sentry/node/build/index.js'],
    ['/app/node_modules/dd-trace/packages/dd-trace/src/index.js'],
    ['/app/node_modules/dd-trace/node_modules/semver/index.js'],
    ['/app/node_modules/newrelic/index.js'],
    ['/app/node_modules/elastic-apm-node/index.js'],
    ['/app/node_modules/@splunk/otel/lib/index.js'],
    ['/app/node_modules/shimmer/index.js'],
    ['/app/node_modules/opentelemetry-instrumentation-event-loop/dist/index.cjs'],
    ['/app/.next/server/vendor-chunks/@opentelemetry.js'],
    ['/app/.next/server/vendor-chunks/@sentry+node@9.1.0.js'],
    ['/app/.next/server/vendor-chunks/shimmer.js'],
    ['/app/.pnp.cjs'],
  ])('%s is an agent', (file) => expect(originOf(file)).toBe('agent'));
});

describe('a main script in node_modules', () => {
  const verdaccio = '/usr/lib/node_modules/verdaccio/bin/verdaccio';

  test('of a package from elsewhere: it is the application, without its dependencies', () => {
    const originOf = createOriginOf({ mainFile: verdaccio, cwd: '/srv' });
    expect(originOf('/usr/lib/node_modules/verdaccio/build/start.js')).toBe('app');
    expect(originOf('/usr/lib/node_modules/verdaccio/node_modules/lodash/lodash.js')).toBe(
      'dependency',
    );
    expect(originOf('/usr/lib/node_modules/verdaccio-htpasswd/index.js')).toBe('dependency');
    expect(originOf('/srv/plugin.js')).toBe('app');
    const scoped = createOriginOf({
      mainFile: '/usr/lib/node_modules/@acme/cli/bin.js',
      cwd: '/srv',
    });
    expect(scoped('/usr/lib/node_modules/@acme/cli/lib/run.js')).toBe('app');
    expect(scoped('/usr/lib/node_modules/@acme/other/lib/run.js')).toBe('dependency');
  });
});

describe('a list of paths', () => {
  const originOf = createOriginOf({
    inApp: [
      'src',
      './packages/api/',
      '/opt/shared',
      '../sibling',
      'node_modules/@acme/',
      'webpack://app/./src',
    ],
    cwd: '/app',
  });

  test.each([
    ['/app/src/report.js', 'app'],
    ['file:///app/src/report.js', 'app'],
    ['/app/src', 'app'],
    ['/app/src.js', 'dependency'],
    ['/app/srcs/report.js', 'dependency'],
    ['/app/packages/api/index.js', 'app'],
    ['/app/packages/api-client/index.js', 'dependency'],
    ['/app/packages/api/node_modules/lodash/lodash.js', 'dependency'],
    ['/opt/shared/a.js', 'app'],
    ['/sibling/a.js', 'app'],
    ['/app/node_modules/@acme/lib/index.js', 'app'],
    ['/app/node_modules/@acme/lib/node_modules/lodash/lodash.js', 'dependency'],
    ['/app/node_modules/lodash/lodash.js', 'dependency'],
    ['/app/node_modules/express/index.js', 'dispatcher'],
    ['/app/node_modules/@opentelemetry/api/build/index.js', 'agent'],
    ['/app/other/a.js', 'dependency'],
    ['webpack://app/./src/a.ts', 'app'],
  ])('%s is %s', (file, origin) => expect(originOf(file)).toBe(origin));
});

describe('a function', () => {
  test('is asked once for a file, by path', () => {
    const inApp = jest.fn((file: string) => file.includes('/mine/'));
    const originOf = createOriginOf({ inApp });
    expect([1, 2].map(() => originOf('file:///app/node_modules/mine/a.js'))).toEqual([
      'app',
      'app',
    ]);
    expect(originOf('/app/other.js')).toBe('dependency');
    expect(originOf('/app/node_modules/dd-trace/index.js')).toBe('agent');
    expect(inApp.mock.calls).toEqual([
      ['/app/node_modules/mine/a.js'],
      ['/app/other.js'],
      ['/app/node_modules/dd-trace/index.js'],
    ]);
  });

  test.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error('no');
      },
    ],
    ['returns no boolean', () => 'yes'],
    [
      'is async',
      async () => {
        throw new Error('no');
      },
    ],
  ])('that %s: the default decides, and it is reported once', (_what, inApp) => {
    const onError = jest.fn();
    const originOf = createOriginOf({ inApp: inApp as () => boolean, onError });
    expect(originOf('/app/a.js')).toBe('app');
    expect(originOf('/app/node_modules/lodash/lodash.js')).toBe('dependency');
    expect(onError).toHaveBeenCalledTimes(1);
    expect(onError.mock.calls[0]?.[0]).toBeInstanceOf(Error);
  });
});

test('a WebAssembly module is a dependency, whatever the option says', () => {
  const wasm = 'wasm://wasm/e8f224ae';
  for (const inApp of [undefined, () => true, ['/']])
    expect(createOriginOf({ inApp, cwd: '/app' })(wasm)).toBe('dependency');
});

test('answers for file names that are new each time take no memory', () => {
  const inApp = jest.fn(() => true);
  const originOf = createOriginOf({ inApp });
  for (let i = 0; i < 2001; i++) originOf(`/app/${i}.js`);
  originOf('/app/0.js');
  expect(inApp).toHaveBeenCalledTimes(2002);
});

test.each([
  [['src'], undefined],
  ['src', 'type'],
  [[1], 'type'],
  [null, 'type'],
  [true, 'type'],
  [[], 'range'],
  [['src', ' '], 'range'],
  [Array.from({ length: 101 }, () => 'src'), 'range'],
])('the option is checked: %p', (value, kind) => {
  expect(problemOfPaths(value)).toBe(kind);
});
