import { tmpdir } from 'node:os';
import path from 'node:path';

export default {
  cacheDir: path.join(tmpdir(), 'event-loop-guard-vitest'),
  test: { root: import.meta.dirname, include: ['vitest.mjs'], testTimeout: 120_000 },
};
