/** The option `console`. */
import type { Extra } from '../extra.ts';
import { isIgnored } from '../report/emitter.ts';
import { ConsoleReporter } from './console-reporter.ts';

export const consoleReport: Extra = {
  inSession({ config, settle }) {
    const { console: format, thresholdMillis } = config;
    if (format === false) return undefined;
    const reporter = new ConsoleReporter(format, settle, thresholdMillis);
    return {
      start: () => reporter.start(),
      stop: () => reporter.stop(),
      failure: 'cannot pass on a block',
      emit: (report) => {
        if (!isIgnored(report)) reporter.block(report.block, report.context);
      },
    };
  },
};
