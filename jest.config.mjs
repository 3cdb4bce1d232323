// Unit tests import the TypeScript sources; scenario tests start child processes that load the built package.
export default {
  testEnvironment: 'node',
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  transform: {
    '^.+\\.m?ts$': [
      '@swc/jest',
      { jsc: { target: 'es2022', parser: { syntax: 'typescript' } }, module: { type: 'commonjs' } },
    ],
  },
  modulePathIgnorePatterns: ['<rootDir>/.matrix/', '<rootDir>/.compat/', '<rootDir>/dist/'],
  testTimeout: 60_000,
  // Scenarios time real processes: two at once would hold each other up.
  maxWorkers: 1,
};
