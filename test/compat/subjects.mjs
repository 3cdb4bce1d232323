// Guarantees: the list of what is tested with real packages. Data only: the tests read it too.

/**
 * @typedef {object} Subject
 * @property {string} name as given to `--only`
 * @property {string} group folder in `groups/` whose packages it is installed with
 * @property {string} app file in `apps/<group>/`
 * @property {string[]} packages whose versions the table shows, the one that matters first
 * @property {boolean} [quick] in `--quick` too
 * @property {'services' | 'beside' | 'types' | 'loaders' | 'runners'} [test] the test file;
 *   `services` when left out
 * @property {boolean} [asynchronous] handlers run after an `await` of the framework's
 * @property {number} [aroundMillis] how long the framework itself may work in the same task as a
 *   handler, if that is long
 * @property {string} [needs] command that has to be on the machine
 * @property {number} [node] major it needs, if that is not the one that runs the tests
 * @property {string} [build] script to run before it
 * @property {string} [reported] the file that is reported to block, or its folder: the app's own
 *   `support/work.cjs` when left out
 * @property {boolean} [minified] that file has no lines to speak of
 * @property {string[]} [nodeArgs]
 * @property {boolean} [preload] its SDK is preloaded, and the application knows nothing of it
 * @property {Record<string, string>} [env]
 * @property {boolean} [metrics] it has a meter provider, and its metrics are read
 * @property {boolean} [compared] its answers are compared with those it gives without the package
 * @property {boolean} [graphql] it is asked by GraphQL queries
 * @property {'otlp' | 'sentry' | 'datadog'} [wire] what it sends; `otlp` when left out
 */

const REGISTER = 'opentelemetry-instrumentation-event-loop/register';
/** Metrics soon, and no questions to clouds that are not there. */
const OTLP_ENV = {
  OTEL_METRIC_EXPORT_INTERVAL: '1000',
  OTEL_METRIC_EXPORT_TIMEOUT: '900',
  OTEL_NODE_RESOURCE_DETECTORS: 'none',
};
/** It exports as protobuf, and metrics if it is asked to. */
const SPLUNK_ENV = {
  ...OTLP_ENV,
  OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
  SPLUNK_METRICS_ENABLED: 'true',
};

/** What a subject is run on if this process' own Node.js is too old for it. */
export const NEWER_NODE = 24;

/** @type {Subject[]} */
export const SUBJECTS = [
  // what sets up OpenTelemetry
  {
    name: 'node-tracer-provider',
    group: 'frameworks',
    app: 'node-tracer-provider.cjs',
    packages: ['@opentelemetry/sdk-trace-node'],
    quick: true,
  },
  {
    name: 'vercel',
    group: 'vercel',
    app: 'vercel.cjs',
    packages: ['@vercel/otel'],
    quick: true,
  },
  {
    name: 'sentry',
    group: 'sentry',
    app: 'sentry.cjs',
    packages: ['@sentry/node'],
    // Not in `quick`: one run in six, Sentry's exporter does not send the span of a block that ends
    // after its transaction. The span has ended by then: the console has its line.
    wire: 'sentry',
  },
  {
    name: 'dd-trace',
    group: 'dd-trace',
    app: 'dd-trace.cjs',
    packages: ['dd-trace'],
    wire: 'datadog',
    node: 22,
    quick: true,
  },
  {
    name: 'elastic',
    group: 'elastic',
    app: 'elastic.cjs',
    packages: ['@elastic/opentelemetry-node'],
  },
  {
    name: 'splunk',
    group: 'splunk',
    app: 'splunk.cjs',
    packages: ['@splunk/otel'],
  },
  // distributions that are preloaded, and /register beside them
  {
    name: 'elastic-preload',
    group: 'elastic',
    app: 'support/plain.cjs',
    nodeArgs: ['--import', '@elastic/opentelemetry-node', '--import', REGISTER],
    packages: ['@elastic/opentelemetry-node'],
    preload: true,
    env: OTLP_ENV,
    metrics: true,
  },
  {
    name: 'elastic-preload-last',
    group: 'elastic',
    app: 'support/plain.mjs',
    nodeArgs: ['--import', REGISTER, '--import', '@elastic/opentelemetry-node'],
    packages: ['@elastic/opentelemetry-node'],
    preload: true,
    env: OTLP_ENV,
    metrics: true,
  },
  {
    name: 'splunk-preload',
    group: 'splunk',
    app: 'support/plain.cjs',
    nodeArgs: ['--require', '@splunk/otel/instrument', '--require', REGISTER],
    packages: ['@splunk/otel'],
    preload: true,
    env: SPLUNK_ENV,
    metrics: true,
  },
  {
    name: 'splunk-preload-last',
    group: 'splunk',
    app: 'support/plain.mjs',
    nodeArgs: ['--import', REGISTER, '--import', '@splunk/otel/instrument.js'],
    packages: ['@splunk/otel'],
    preload: true,
    env: SPLUNK_ENV,
    metrics: true,
  },
  ...['auto', 'auto-modern'].flatMap((group) => [
    {
      name: `${group}-preload`,
      group,
      app: 'support/plain.mjs',
      nodeArgs: [
        ...['--import', '@opentelemetry/auto-instrumentations-node/register'],
        ...['--import', REGISTER],
      ],
      packages: ['@opentelemetry/auto-instrumentations-node'],
      preload: true,
      env: OTLP_ENV,
      metrics: true,
      ...(group === 'auto-modern' && { node: 22 }),
    },
    {
      name: `${group}-preload-last`,
      group,
      app: 'support/plain.cjs',
      packages: ['@opentelemetry/auto-instrumentations-node'],
      preload: true,
      env: {
        ...OTLP_ENV,
        NODE_OPTIONS: `--import ${REGISTER} --import @opentelemetry/auto-instrumentations-node/register`,
      },
      metrics: true,
      ...(group === 'auto-modern' && { node: 22 }),
    },
  ]),
  {
    // The other way round is not tested: from the group's folder, /register finds the repository's
    // own SDK.
    name: 'sentry-preload',
    group: 'sentry',
    app: 'support/plain.mjs',
    nodeArgs: ['--import', './instrument.mjs', '--import', REGISTER],
    packages: ['@sentry/node'],
    preload: true,
    wire: 'sentry',
  },
  ...['preload', 'preload-last'].map((order) => {
    const preloads = ['dd-trace/initialize.mjs', REGISTER];
    if (order === 'preload-last') preloads.reverse();
    /** @type {Subject} */
    const subject = {
      name: `dd-trace-${order}`,
      group: 'dd-trace',
      app: order === 'preload' ? 'support/plain.cjs' : 'support/plain.mjs',
      nodeArgs: preloads.flatMap((name) => ['--import', name]),
      packages: ['dd-trace'],
      preload: true,
      env: { DD_TRACE_OTEL_ENABLED: 'true' },
      wire: 'datadog',
      node: 22,
    };
    return subject;
  }),
  // other tools that watch the same process
  {
    name: 'sentry-anr',
    group: 'sentry-10',
    test: 'beside',
    app: 'sentry-anr.cjs',
    packages: ['@sentry/node'],
    // More stack samples: Sentry pauses the main thread at any moment, so at one of these as well.
    env: { OTEL_INSTRUMENTATION_EVENT_LOOP_THRESHOLD_MILLIS: '70' },
    quick: true,
  },
  {
    name: 'newrelic',
    group: 'agents',
    test: 'beside',
    app: 'newrelic.cjs',
    packages: ['newrelic'],
    // It sends by TLS only, for which the test makes a certificate.
    needs: 'openssl',
    node: 22,
  },
  {
    name: 'elastic-apm-node',
    group: 'agents',
    test: 'beside',
    app: 'elastic-apm-node.cjs',
    packages: ['elastic-apm-node'],
  },
  {
    name: 'dd-trace-profiler',
    group: 'dd-trace',
    test: 'beside',
    app: 'profiler.cjs',
    packages: ['dd-trace'],
    node: 22,
  },
  {
    name: 'pyroscope',
    group: 'agents',
    test: 'beside',
    app: 'pyroscope.cjs',
    packages: ['@pyroscope/nodejs'],
  },
  // frameworks
  {
    name: 'express',
    group: 'frameworks',
    app: 'express.cjs',
    packages: ['express', '@opentelemetry/sdk-node'],
    quick: true,
  },
  {
    name: 'fastify',
    group: 'frameworks',
    app: 'fastify.mjs',
    packages: ['fastify', '@fastify/otel'],
    quick: true,
  },
  {
    name: 'koa',
    group: 'frameworks',
    app: 'koa.cjs',
    packages: ['koa'],
    quick: true,
  },
  {
    name: 'deasync',
    group: 'frameworks',
    app: 'deasync.cjs',
    packages: ['deasync'],
    // A beat in that loop would show that it has waited.
    env: {
      OTEL_INSTRUMENTATION_EVENT_LOOP_LAG_INTERVAL_MILLIS: '1000',
      OTEL_INSTRUMENTATION_EVENT_LOOP_ASYNC_HOOKS: 'always',
    },
    quick: true,
  },
  {
    name: 'nest',
    group: 'frameworks',
    app: 'nest.cjs',
    packages: ['@nestjs/core'],
    quick: true,
  },
  {
    name: 'yoga',
    group: 'frameworks',
    app: 'yoga.cjs',
    packages: ['graphql-yoga', 'graphql'],
    graphql: true,
    quick: true,
  },
  {
    name: 'apollo',
    group: 'frameworks',
    app: 'apollo.cjs',
    packages: ['@apollo/server', 'graphql'],
    graphql: true,
  },
  {
    name: 'next',
    group: 'next',
    app: 'server.cjs',
    build: 'build-next.mjs',
    asynchronous: true,
    aroundMillis: 60,
    packages: ['next', '@vercel/otel'],
  },
  {
    name: 'piscina',
    group: 'pools',
    app: 'piscina.cjs',
    packages: ['piscina'],
  },
  {
    name: 'bullmq',
    group: 'queue',
    app: 'worker.cjs',
    packages: ['bullmq', 'bullmq-otel'],
    needs: 'redis-server',
  },
  // ES modules under /register
  .../** @type {const} */ ([
    ['sveltekit', ['@sveltejs/kit', '@sveltejs/adapter-node']],
    ['astro', ['astro', '@astrojs/node']],
    ['react-router', ['react-router', '@react-router/serve']],
  ]).map(
    ([name, packages]) =>
      /** @type {Subject} */ ({
        name,
        group: 'es-builds',
        app: `${name}.mjs`,
        packages: [...packages],
        nodeArgs: ['--import', REGISTER],
        preload: true,
        env: OTLP_ENV,
        metrics: true,
        node: 22,
        compared: true,
        build: `build-${name}.mjs`,
        asynchronous: true,
      }),
  ),
  // bundlers: the app and this package in one file
  {
    name: 'esbuild',
    group: 'bundlers',
    app: 'out/esbuild.cjs',
    build: 'build-esbuild.mjs',
    reported: 'out/esbuild.cjs',
    packages: ['esbuild'],
    quick: true,
  },
  {
    name: 'esbuild-minified',
    group: 'bundlers',
    app: 'out/esbuild-minified.cjs',
    build: 'build-esbuild.mjs',
    reported: 'out/esbuild-minified.cjs',
    minified: true,
    packages: ['esbuild'],
    quick: true,
  },
  {
    name: 'rollup',
    group: 'bundlers',
    app: 'out/rollup.mjs',
    build: 'build-rollup.mjs',
    reported: 'out/rollup.mjs',
    packages: ['rollup'],
    quick: true,
  },
  {
    name: 'webpack',
    group: 'bundlers',
    app: 'out/webpack.cjs',
    build: 'build-webpack.mjs',
    nodeArgs: ['--enable-source-maps'],
    packages: ['webpack'],
    quick: true,
  },
  // loaders, on this process' Node.js and on the newer one
  .../** @type {const} */ ([
    ['ts-node', ['-r', 'ts-node/register/transpile-only'], ['ts-node', 'typescript']],
    ['swc-node', ['-r', '@swc-node/register'], ['@swc-node/register', '@swc/core']],
    ['tsx', ['--import', 'tsx'], ['tsx']],
    ['babel-register', ['-r', './babel.cjs'], ['@babel/register', '@babel/core']],
    ['esbuild-register', ['-r', 'esbuild-register'], ['esbuild-register', 'esbuild']],
  ]).flatMap(([name, nodeArgs, packages]) =>
    ['', '-newer'].map(
      (suffix) =>
        /** @type {Subject} */ ({
          name: `${name}${suffix}`,
          group: 'loaders',
          test: 'loaders',
          app: 'main.ts',
          nodeArgs: [...nodeArgs],
          packages: [...packages],
          ...(suffix !== '' && { node: NEWER_NODE }),
        }),
    ),
  ),
  // test runners, with their default transforms
  ...['jest', 'vitest'].map(
    (name) =>
      /** @type {Subject} */ ({
        name,
        group: 'runners',
        test: 'runners',
        app: `lines.test.${name === 'jest' ? 'js' : 'mjs'}`,
        packages: [name],
      }),
  ),
  // types
  {
    name: 'types',
    group: 'types',
    test: 'types',
    app: '',
    packages: ['typescript-5.0', 'typescript-5.9', 'typescript-7'],
    quick: true,
  },
];
