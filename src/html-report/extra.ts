/** The report page, with the option `reportFile`; `writeReport()` writes it in between. */
import type { Extra } from '../extra.ts';
import { HtmlReport, writeReport } from './html-report.ts';

export const htmlReport: Extra = {
  inSession(session) {
    const { reportFile } = session.config;
    return reportFile === undefined ? undefined : new HtmlReport(session, reportFile);
  },
  writeReport,
};
