/** The report page: `reportFile` and `writeReport()`. */
import type { Extra } from '../extra.ts';
import { createOriginOf } from '../name/in-app.ts';
import { isIgnored } from '../report/emitter.ts';
import { HtmlReport, writeReport } from './html-report.ts';

export const htmlReport: Extra = {
  inSession(session) {
    const { clock, config, log, origin } = session;
    const { reportFile, reportSource, thresholdMillis } = config;
    const originOf = reportSource ? createOriginOf(origin) : undefined;
    const page = new HtmlReport(reportFile, thresholdMillis, originOf, session, log);
    return {
      start: () => page.start(),
      stop: () => page.stop(),
      endBySignal: () => page.write(),
      failure: 'cannot put a block on the report page',
      emit: (report) => {
        if (!isIgnored(report)) page.block(report.block, report.context, report.samples);
      },
      ...(page.isRecording && {
        lag: (millis, samples) => {
          const now = clock.now();
          const [time, busy] = [clock.epoch(now), now - clock.waited()];
          for (let i = 0; i < samples; i++) page.lag(time, busy, millis);
        },
      }),
    };
  },
  writeReport,
};
