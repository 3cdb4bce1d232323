// The compatibility tests are run by run.mjs, which installs what they need; `npm test` does not know of them.
import { resolve } from 'node:path';
import base from '../../jest.config.mjs';

const [transform] = Object.values(base.transform);

export default {
  ...base,
  rootDir: resolve(import.meta.dirname, '../..'),
  testMatch: ['<rootDir>/test/compat/**/*.compat.ts'],
  // The receiver and the list of subjects are modules that scripts use as well.
  transform: { '^.+\\.m?[jt]s$': transform },
};
