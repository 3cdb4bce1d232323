// Promises: where the peers' suites are kept and what they write. Everything lives in the git-ignored `.peers/`.
import { join } from 'node:path';
import { ROOT } from '../../tools/paths.cjs';

const PEERS = join(ROOT, '.peers');

/** The packed tarball, installed beside an SDK. */
export const PACKAGE_FOLDER = join(PEERS, 'package');
export const RESULTS = join(PEERS, 'results');
export const sourceFolder = (/** @type {string} */ name) => join(PEERS, 'sources', name);
