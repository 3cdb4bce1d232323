// All tests, by what they need. `npm test` runs what needs nothing but this repository; the checks
// choose a project with `--selectProjects`. Unit tests import the TypeScript sources; scenarios
// start child processes that load the built package.
import { existsSync } from 'node:fs';

/**
 * Scenarios about lengths, stack samples, and how long a process takes to end: two of them at the
 * same time would wait for each other. With less CPU, what many requests do by themselves piles up.
 */
const ONE_AT_A_TIME = [
  'blockers',
  'capture',
  'idle',
  'incidents',
  'lag',
  'overload',
  'stalled-spans',
  'suspensions',
  'worker-threads',
];
const ALONE = `/scenarios/(?:${ONE_AT_A_TIME.join('|')})\\.test\\.ts$`;

const SWC = [
  '@swc/jest',
  { jsc: { target: 'es2022', parser: { syntax: 'typescript' } }, module: { type: 'commonjs' } },
];
/** Each makes what is generated from the sources, as they are now. */
const BUILT = { globalSetup: '<rootDir>/test/scenarios/support/global-setup.mjs' };
const GENERATED = { globalSetup: '<rootDir>/test/unit/support/global-setup.mjs' };
/** Tools are modules that scripts use as well. */
const WITH_TOOLS = { transform: { '^.+\\.m?[jt]s$': SWC } };

const project = (displayName, folder, options) => ({
  displayName,
  roots: [`<rootDir>/test/${folder}`],
  testEnvironment: 'node',
  transform: { '^.+\\.m?ts$': SWC },
  ...options,
});

const TESTS = { testMatch: ['**/*.test.ts'] };
const PROJECTS = [
  project('unit', 'unit', { ...TESTS, ...GENERATED }),
  project('alone', 'scenarios', {
    ...TESTS,
    ...BUILT,
    testPathIgnorePatterns: [`^(?!.*${ALONE})`],
  }),
  project('together', 'scenarios', { ...TESTS, ...BUILT, testPathIgnorePatterns: [ALONE] }),
  project('compat', 'compat', { testMatch: ['**/*.compat.ts'], ...WITH_TOOLS }),
  project('platforms', 'platforms', { testMatch: ['**/*.platform.ts'], ...WITH_TOOLS }),
  project('page', 'browser', { testMatch: ['**/*.browser.ts'], ...BUILT }),
  // ES modules as they are: test/stack/run.mjs passes the flag that jest needs for that.
  project('stack', 'stack', { testMatch: ['**/*.test.mjs'], transform: {} }),
];

export default {
  // The matrix stages some of these folders elsewhere.
  projects: PROJECTS.filter(({ roots: [root = ''] }) =>
    existsSync(root.replace('<rootDir>', import.meta.dirname)),
  ),
  reporters: ['default', '<rootDir>/test/scenarios/support/void-reporter.mjs'],
  testTimeout: 60_000,
  maxWorkers: '100%',
};
