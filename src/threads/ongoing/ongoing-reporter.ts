/**
 * Reports a block that has not ended: a line on stderr, and a span or a log event if the process
 * exports by OTLP. Runs on the watchdog thread.
 */
import type { BlockedThread } from '../../core/emit/block-attributes.ts';
import { namedFacts, type UnnamedFacts } from '../../core/emit/ongoing-facts.ts';
import {
  createOriginOf,
  type OriginOf,
  type OriginOptions,
} from '../../core/explain/name/in-app.ts';
import type { OngoingReport, WatchdogData } from '../../core/sample/protocol.ts';
import { attempt } from '../../support/guard.ts';
import { startThread } from '../../support/own-threads.ts';
import { writeLines } from '../../support/stderr.ts';
import { dateNow } from '../../support/time.ts';
import type { BlockEventsMode } from '../../types.ts';
import type { ExporterData } from './exporter.worker.ts';
import { ongoingLine } from './ongoing-line.ts';
import { exportsOtlp } from './otlp-environment.ts';

/** Given by the watched thread when the watchdog thread starts. */
export interface OngoingReportOptions {
  readonly thread: BlockedThread;
  readonly blockEvents: BlockEventsMode;
  readonly exporterCode: string;
  /** Files and folders to resolve the application's exporter from. */
  readonly resolveFrom: readonly string[];
  /** Which code is the application's own; not by a function of the application. */
  readonly origin: OriginOptions;
}

/**
 * In the watchdog thread: the function that reports the ongoing blocks of one watched thread. `env`
 * is what exporters read of that thread's environment.
 */
export function ongoingReporter({
  ongoing,
  env,
}: Pick<WatchdogData, 'ongoing' | 'env'>): (report: OngoingReport) => void {
  const options = ongoing as OngoingReportOptions;
  const originOf = createOriginOf(options.origin);
  return (report) => reportOngoing(report, options, env, originOf);
}

function reportOngoing(
  report: OngoingReport,
  { thread, blockEvents, exporterCode, resolveFrom }: OngoingReportOptions,
  env: Record<string, string>,
  originOf: OriginOf,
): void {
  const facts = report.facts && namedFacts(report.facts as UnnamedFacts, originOf);
  if (facts?.isExpected) return;
  const line = ongoingLine({ ...report, facts }, new Date(dateNow()), process.pid, thread);
  writeLines(() => [line], true);
  if (facts === undefined) return;
  const hasSpan = !facts.spanUnwanted && exportsOtlp(env, 'traces');
  const isEventWanted = blockEvents === 'all' || (blockEvents === 'unsampled' && !hasSpan);
  const hasEvent = isEventWanted && !facts.eventUnwanted && exportsOtlp(env, 'logs');
  if (!hasSpan && !hasEvent) return;
  const workerData: ExporterData = {
    facts,
    thread,
    hasSpan,
    ...(hasEvent && { eventBody: line }),
    endTimeMillis: facts.epochMillis + report.time,
    resolveFrom,
  };
  // In a thread of its own: exporters need far more memory than the watchdog has.
  attempt(() => {
    const exporter = startThread(exporterCode, {
      name: 'event-loop-ongoing',
      env,
      workerData,
      resourceLimits: { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16 },
    });
    exporter.on('error', () => {});
    exporter.unref();
  });
}
