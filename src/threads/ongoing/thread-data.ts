/** Blocks that have not ended are reported by the watchdog thread: this is what it is given. */
import type { ResolvedConfig } from '../../config.ts';
import type { OriginOptions } from '../../core/explain/name/in-app.ts';
import { packageOrigins } from '../../support/application-packages.ts';
import { copies } from '../../support/copies.ts';
import { THIS_THREAD } from '../../support/this-thread.ts';
import { EXPORTER_CODE } from '../../worker-code.generated.ts';
import type { OngoingReportOptions } from './ongoing-reporter.ts';
import { exporterEnvironment } from './otlp-environment.ts';

export function ongoingThreadData(
  config: ResolvedConfig,
  isConsoleOnly: boolean,
  origin: OriginOptions,
) {
  return {
    unfinishedAfterMillis: config.unfinishedAfterMillis,
    env: isConsoleOnly ? {} : exporterEnvironment(process.env, copies().isSdkOfEnvironment),
    ongoing: {
      thread: THIS_THREAD,
      blockEvents: config.blockEvents,
      exporterCode: EXPORTER_CODE,
      resolveFrom: packageOrigins(),
      origin,
    } satisfies OngoingReportOptions,
  };
}
