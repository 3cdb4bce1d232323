// Guarantees: where the matrix reads from and writes to. Everything written lives in the
// git-ignored `.matrix/`.
import { join } from 'node:path';
import { MATRIX } from '../../tools/paths.cjs';

export const RESULTS = join(MATRIX, 'results');

/** @param {string} line */
export const lineFolder = (line) => join(import.meta.dirname, line);
/** @param {string} line */
export const stageFolder = (line) => join(MATRIX, line);
