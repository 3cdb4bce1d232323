import { tmpdir } from 'node:os';
import path from 'node:path';

export default {
  cacheDir: path.join(tmpdir(), 'event-loop-vitest'),
  test: { root: import.meta.dirname, include: ['vitest.mjs'] },
};
