// The compatibility tests are run by run.mjs, which installs what they need; `npm test` does not know of them.
import { resolve } from 'node:path';
import base from '../../jest.config.mjs';

export default {
  ...base,
  rootDir: resolve(import.meta.dirname, '../..'),
  testMatch: ['<rootDir>/test/compat/**/*.compat.ts'],
  // Next.js is built by the first of its tests.
  testTimeout: 180_000,
};
