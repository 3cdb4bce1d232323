/**
 * Reports a block that has not ended: a line on stderr, and a span or a log event if the process
 * exports by OTLP. Runs on the watchdog thread.
 */
import { Worker } from 'node:worker_threads';
import type { BlockedThread } from '../block-attributes.ts';
import type { ThreadExtra } from '../extra.ts';
import { createOriginOf, type OriginOf, type OriginOptions } from '../name/in-app.ts';
import { withoutLoaderLines } from '../report/loader-lines.ts';
import { namedFacts, type OngoingFacts, type UnnamedFacts } from '../report/ongoing-facts.ts';
import type { OngoingReport } from '../sample/protocol.ts';
import { writeLineBeside } from '../support/stderr.ts';
import { dateNow } from '../support/time.ts';
import type { BlockEventsMode } from '../types.ts';
import type { ExporterData } from './exporter.worker.ts';
import { ongoingLine } from './ongoing-line.ts';
import { exportsOtlp } from './otlp-environment.ts';

/** Given by the watched thread when the watchdog thread starts. */
export interface OngoingReportOptions {
  /** The watched thread. */
  readonly thread: BlockedThread;
  readonly blockEvents: BlockEventsMode;
  /** Code of the thread that exports the span and the event. */
  readonly exporterCode: string;
  /** Files and folders to resolve the application's exporter from. */
  readonly resolveFrom: readonly string[];
  /** Files of the watched thread may run as something else than their text. */
  readonly hasLoader: boolean;
  /** Which code is the application's own; not by a function of the application. */
  readonly origin: OriginOptions;
}

export class OngoingReporter {
  readonly #originOf: OriginOf;

  constructor(
    private readonly options: OngoingReportOptions,
    /** What exporters read of the environment of the watched thread. */
    private readonly env: Record<string, string>,
  ) {
    this.#originOf = createOriginOf(options.origin);
  }

  report(report: OngoingReport<UnnamedFacts>): void {
    const { time } = report;
    const { thread, hasLoader } = this.options;
    const named = report.facts && namedFacts(report.facts, this.#originOf);
    const facts = named && withoutLoaderLines(named, hasLoader);
    if (facts === undefined ? report.isInspected : facts.debuggerPause || facts.isExpected) return;
    const line = ongoingLine({ ...report, facts }, new Date(dateNow()), process.pid, thread);
    writeLineBeside(line, facts?.afterHalfLine === true);
    if (facts === undefined) return;
    const hasSpan = !facts.spanUnwanted && exportsOtlp(this.env, 'traces');
    const hasEvent = this.#isEventWanted(facts, hasSpan) && exportsOtlp(this.env, 'logs');
    if (!hasSpan && !hasEvent) return;
    this.#export({
      facts,
      thread,
      hasSpan,
      ...(hasEvent && { eventBody: line }),
      endTimeMillis: facts.epochMillis + time,
      resolveFrom: this.options.resolveFrom,
    });
  }

  #isEventWanted({ eventUnwanted }: OngoingFacts, hasSpan: boolean): boolean {
    const { blockEvents } = this.options;
    return !eventUnwanted && (blockEvents === 'all' || (blockEvents === 'unsampled' && !hasSpan));
  }

  /** Exports in a thread of its own: exporters need far more memory than the watchdog has. */
  #export(data: ExporterData): void {
    const exporter = new Worker(this.options.exporterCode, {
      eval: true,
      name: 'event-loop-ongoing',
      argv: [],
      execArgv: [],
      env: this.env,
      stdout: true,
      stderr: true,
      workerData: data,
      resourceLimits: { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16 },
    });
    exporter.on('error', () => {});
    exporter.unref();
  }
}

/** In the watchdog thread. */
export const ongoing: ThreadExtra = {
  reportOngoing({ ongoing: options, env }) {
    const reporter = new OngoingReporter(options as OngoingReportOptions, env);
    return (report) => reporter.report(report);
  },
};
