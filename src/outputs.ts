/** The outputs, in the order in which they start. Each has its own lines here. */
import { consoleReport } from './console/console-reporter.ts';
import { htmlReport } from './html-report/html-report.ts';
import type { Output } from './output.ts';
import { recording } from './recording/recording.ts';

export const OUTPUTS: readonly Output[] = [
  consoleReport, //
  htmlReport,
  recording,
];
