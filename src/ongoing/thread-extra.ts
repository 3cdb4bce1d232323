/** Reports blocks that have not ended, in the watchdog thread. */
import type { ThreadExtra } from '../extra.ts';
import { OngoingReporter, type OngoingReportOptions } from './ongoing-reporter.ts';

export const ongoing: ThreadExtra = {
  reportOngoing({ ongoing: options, env }) {
    const reporter = new OngoingReporter(options as OngoingReportOptions, env);
    return (report) => reporter.report(report);
  },
};
