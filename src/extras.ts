/** The extras, in the order in which they start. Each has its own lines here. */
import type { Extra } from './extra.ts';
import { healthServer } from './health-server/extra.ts';
import { ongoing } from './ongoing/extra.ts';
import { stalls } from './stalls/extra.ts';
import { workers } from './workers/extra.ts';

export const EXTRAS: readonly Extra[] = [
  workers,
  // At once: it is to answer while the application loads, too.
  healthServer,
  ongoing,
  // Stopped before them: it reports requests that wait to be reported.
  stalls,
];
