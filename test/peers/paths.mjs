// Guarantees: where the peers' suites are kept and what they write.
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '../../tools/paths.cjs';

/**
 * Not below the repository, whose packages a suite would find as well, and not in a hidden folder,
 * from which `send` serves nothing.
 */
const PEERS = join(tmpdir(), 'event-loop-peers');

/** The packed tarball, installed beside an SDK. */
export const PACKAGE_FOLDER = join(PEERS, 'package');
export const sourceFolder = (/** @type {string} */ name) => join(PEERS, 'sources', name);
/** Ignored by git. */
export const RESULTS = join(ROOT, '.peers');
