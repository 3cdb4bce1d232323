// What an application runs on: `npm run check --` with `operator`, `lambda` or `runtimes`. No part
// of `npm test`.
import { resolve } from 'node:path';
import { common as base } from '../../jest.config.mjs';

const [transform] = Object.values(base.transform);

export default {
  ...base,
  rootDir: resolve(import.meta.dirname, '../..'),
  testMatch: ['<rootDir>/test/platforms/*.platform.ts'],
  testTimeout: 120_000,
  maxWorkers: 1,
  // The tools are modules that scripts use as well.
  transform: { '^.+\\.m?[jt]s$': transform },
};
