// What the report page looks like, in a real browser: `npm run check -- page`. `npm test` does not
// know of it, since it needs Chromium.
import { resolve } from 'node:path';
import { common } from '../../jest.config.mjs';

export default {
  ...common,
  rootDir: resolve(import.meta.dirname, '../..'),
  testMatch: ['<rootDir>/test/browser/*.browser.ts'],
  globalSetup: '<rootDir>/test/scenarios/support/global-setup.mjs',
  testTimeout: 60_000,
  maxWorkers: 1,
};
