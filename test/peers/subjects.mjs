// Guarantees: whose test suites are run, each pinned, and how. Only two of these have their tests
// in the npm tarball.

/**
 * @typedef {object} Suite
 * @property {string} name
 * @property {'mocha' | 'node'} runner
 * @property {string[]} args what the runner is given, with the files as patterns that it takes
 * @property {Record<string, string>} [unreliable] why a test's outcome says nothing, by its name
 */

/**
 * @typedef {object} Subject
 * @property {string} name
 * @property {string} version of the npm tarball, or next to the commit
 * @property {{ repository: string, commit: string }} [git] if the tarball has no tests
 * @property {string[]} [prepare] a script of its own that makes fixtures
 * @property {Suite[]} suites
 */

/** Development dependencies without a version of their own are those of this day. */
export const INSTALLED_AS_OF = '2026-11-20';

/** Development dependencies that no test needs: linters, runners, browsers, documentation. */
export const NOT_NEEDED = new RegExp(
  'lint|standard|snazzy|prettier|borp|nyc|^c8$|tstyche|knip|playwright|webpack|benchmark|globals' +
    '|airtap|arethetypeswrong|autocannon|branch-comparer|bunyan|concurrently|cross-env|docsify' +
    '|fastbench|installed-check|^jest$|npm-run-all|line-reporter',
);

/** On a busy machine a test's own limit is no finding. */
const LONG = '--timeout=30000';

/** @type {Subject[]} */
export const SUBJECTS = [
  {
    name: 'express',
    version: '5.2.1',
    git: {
      repository: 'expressjs/express',
      commit: 'a3714473feb3d2908add734d340e7755fd85e0a3',
    },
    suites: [
      {
        name: 'all',
        runner: 'mocha',
        args: ['--require', 'test/support/env', '--check-leaks', LONG, 'test/', 'test/acceptance/'],
      },
    ],
  },
  {
    name: 'fastify',
    version: '5.12.8',
    suites: [{ name: 'all', runner: 'node', args: ['test/**/*.test.js', 'test/**/*.test.mjs'] }],
  },
  {
    name: 'koa',
    version: '3.2.0',
    git: { repository: 'koajs/koa', commit: 'e0ba8ef39d27fe5dae5492f9fe753d155124f994' },
    suites: [{ name: 'all', runner: 'node', args: ['__tests__/**/*.test.js'] }],
  },
  {
    name: 'ws',
    version: '8.21.0',
    git: { repository: 'websockets/ws', commit: 'a2f4e7c046c2112bbce6fef39a083dac77d6f0d2' },
    suites: [
      {
        name: 'all',
        runner: 'mocha',
        args: ['--throw-deprecation', LONG, 'test/*.test.js'],
      },
    ],
  },
  {
    name: 'pino',
    version: '10.4.0',
    prepare: ['test/fixtures/ts/transpile.cjs'],
    suites: [
      {
        name: 'all',
        runner: 'node',
        args: ['test/*.test.js', 'test/transport/*.test.js'],
        unreliable: {
          'test/syncfalse.test.js: asynchronous logging':
            'its fixture keeps no reference to the logger: the line is lost with any garbage ' +
            'collection before the exit, also by gc() in plain Node.js',
        },
      },
    ],
  },
  {
    name: 'mocha',
    version: '12.0.0-rc.6',
    git: { repository: 'mochajs/mocha', commit: 'e6b9ee773481fd739ae24caeb42f32ac0b010f95' },
    suites: [
      {
        name: 'unit',
        runner: 'mocha',
        args: [LONG, 'test/unit/**/*.spec.cjs', 'test/node-unit/**/*.spec.{cjs,js}'],
      },
      { name: 'reporters', runner: 'mocha', args: [LONG, 'test/reporters/*.spec.{cjs,js}'] },
      {
        name: 'requires',
        runner: 'mocha',
        args: [
          ...['--require', 'coffeescript/register', '--require', 'test/require/a.cjs'],
          ...['--require', 'test/require/b.coffee', '--require', 'test/require/c.cjs'],
          ...['--require', 'test/require/d.coffee', LONG, 'test/require/require.spec.cjs'],
        ],
      },
      {
        name: 'integration',
        runner: 'mocha',
        args: [LONG, 'test/integration/**/*.spec.cjs'],
      },
    ],
  },
];
