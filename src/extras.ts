/** The extras, in the order in which they start. Each has its own lines here. */
import { consoleReport } from './console/extra.ts';
import type { Extra } from './extra.ts';
import { healthServer } from './health-server/extra.ts';
import { htmlReport } from './html-report/extra.ts';
import { ongoing } from './ongoing/extra.ts';
import { recording } from './recording/extra.ts';
import { stalls } from './stalls/extra.ts';
import { workers } from './workers/extra.ts';

export const EXTRAS: readonly Extra[] = [
  workers,
  // At once: it is to answer while the application loads, too.
  healthServer,
  ongoing,
  consoleReport,
  htmlReport,
  recording,
  // Stopped before them: it reports requests that wait to be reported.
  stalls,
];
