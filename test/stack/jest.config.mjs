// The test on the real servers. ES modules as they are (run.mjs passes the flag that jest needs for
// that); one file after the other, since each starts servers of its own.
export default {
  testEnvironment: 'node',
  testMatch: ['<rootDir>/*.test.mjs'],
  transform: {},
  testTimeout: 180_000,
  maxWorkers: 1,
};
