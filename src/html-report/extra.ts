/** The report page: `reportFile` and `writeReport()`. */
import type { Extra } from '../extra.ts';
import { HtmlReport, writeReport } from './html-report.ts';

export const htmlReport: Extra = { inSession: (session) => new HtmlReport(session), writeReport };
