/** The outputs, in the order in which they start. Each has its own lines here. */

import { healthServer } from '../threads/health-server/output.ts';
import { consoleReport } from './console/console-reporter.ts';
import { htmlReport } from './html-report/html-report.ts';
import type { Output } from './output.ts';
import { recording } from './recording/recording.ts';

export const OUTPUTS: readonly Output[] = [
  // First: it is to answer while the application loads, too.
  healthServer,
  consoleReport,
  htmlReport,
  recording,
];
