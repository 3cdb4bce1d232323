// Unit tests import the TypeScript sources; scenario tests start child processes that load the
// built package. Each has a set-up that makes what is generated from the sources as they are now.
export const common = {
  testEnvironment: 'node',
  transform: {
    '^.+\\.m?ts$': [
      '@swc/jest',
      { jsc: { target: 'es2022', parser: { syntax: 'typescript' } }, module: { type: 'commonjs' } },
    ],
  },
  modulePathIgnorePatterns: [
    '<rootDir>/.matrix/',
    '<rootDir>/.compat/',
    '<rootDir>/.real-apps/',
    '<rootDir>/dist/',
  ],
};

export default {
  projects: [
    {
      ...common,
      displayName: 'unit',
      testMatch: ['<rootDir>/test/unit/**/*.test.ts'],
      globalSetup: '<rootDir>/test/unit/support/global-setup.mjs',
    },
    {
      ...common,
      displayName: 'scenarios',
      testMatch: ['<rootDir>/test/scenarios/**/*.test.ts'],
      globalSetup: '<rootDir>/test/scenarios/support/global-setup.mjs',
    },
  ],
  reporters: ['default', '<rootDir>/test/scenarios/support/void-reporter.mjs'],
  testTimeout: 60_000,
  maxWorkers: '100%',
};
