// The compatibility tests are run by run.mjs, which installs what they need; `npm test` does not
// know of them.
import { resolve } from 'node:path';
import { common as base } from '../../jest.config.mjs';

const [transform] = Object.values(base.transform);

export default {
  ...base,
  rootDir: resolve(import.meta.dirname, '../..'),
  testMatch: ['<rootDir>/test/compat/**/*.compat.ts'],
  // Next.js is built by the first of its tests.
  testTimeout: 180_000,
  maxWorkers: 1,
  // The receiver is a module that scripts use as well.
  transform: { '^.+\\.m?[jt]s$': transform },
};
