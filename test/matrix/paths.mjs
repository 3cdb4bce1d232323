// Promises: where the matrix reads from and writes to. Everything written lives in the git-ignored `.matrix/`.
import { join, resolve } from 'node:path';

export const ROOT = resolve(import.meta.dirname, '../..');
export const MATRIX = join(ROOT, '.matrix');
export const RESULTS = join(MATRIX, 'results');
export const PACKAGE_NAME = 'opentelemetry-instrumentation-event-loop';

/** @param {string} line */
export const lineFolder = (line) => join(import.meta.dirname, line);
/** @param {string} line */
export const stageFolder = (line) => join(MATRIX, line);
