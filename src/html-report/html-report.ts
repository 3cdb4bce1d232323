/**
 * The report page of the active session: brings what the session finds to the recorder of the
 * thread, and writes the page when the process exits, on SIGURG, and when the session stops.
 * Without `reportFile` nothing is written until `writeReport()` asks for it.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import fs from 'node:fs';
import { isMainThread } from 'node:worker_threads';
import type { SessionExtra, SessionView } from '../extra.ts';
import { createOriginOf } from '../name/in-app.ts';
import { sampledStacks } from '../name/sampled-stacks.ts';
import type { OnceLogger } from '../otel/diag-once.ts';
import { withoutTracing } from '../otel/sdk-internals.ts';
import { attributedRequest } from '../report/attributed-request.ts';
import { type BlockReport, isIgnored } from '../report/emitter.ts';
import { REQUEST_CHANNEL, type RequestMessage } from '../report/request-channel.ts';
import { SUMMARY_SIGNAL } from '../summary/run-times.ts';
import { fileOfThisThread } from '../support/files.ts';
import { attempt } from '../support/guard.ts';
import { launches } from '../support/launches.ts';
import { listen, unlisten } from '../support/process-listeners.ts';
import { writePage } from './page-file.ts';
import { recorderOfThread } from './recorder.ts';
import { SourceLines } from './source-lines.ts';

// Taken once: an application may replace them.
const { statSync } = fs;

export class HtmlReport implements SessionExtra {
  readonly failure = 'cannot put a block on the report page';
  readonly #recorder = recorderOfThread();
  /** Absolute: the application may change its working directory. */
  readonly #file: string | undefined;
  readonly #launches = launches();
  #hasBlocked = false;
  /** When this process changed it last. */
  #writtenAt = 0;
  /** With a file to write, 50 times a second. */
  readonly lag?: (millis: number, samples: number) => void;

  constructor(private readonly session: SessionView) {
    const { reportFile } = session.config;
    if (reportFile === undefined) return;
    this.#file = fileOfThisThread(reportFile);
    const { clock } = session;
    this.lag = (millis, samples) => {
      const now = clock.now();
      const [time, busy] = [this.#recorder.times.now, now - clock.waited()];
      for (let i = 0; i < samples; i++) this.#recorder.lag(time, busy, millis);
    };
  }

  start(): void {
    const { config, origin } = this.session;
    this.#recorder.times.start();
    this.#recorder.thresholdMillis = config.thresholdMillis;
    this.#recorder.sourceLines = config.reportSource
      ? new SourceLines(createOriginOf(origin))
      : undefined;
    if (this.#file === undefined) return;
    this.#recorder.record();
    subscribe(REQUEST_CHANNEL, this.#onRequest);
    listen('exit', this.endBySignal);
    // A worker thread gets no signals.
    if (isMainThread && process.platform !== 'win32') listen(SUMMARY_SIGNAL, this.#write);
  }

  /** Writes the page now: the process may exit long after this. */
  stop(): void {
    this.#recorder.times.stop();
    if (this.#file === undefined) return;
    unsubscribe(REQUEST_CHANNEL, this.#onRequest);
    unlisten('exit', this.endBySignal);
    unlisten(SUMMARY_SIGNAL, this.#write);
    this.#write();
  }

  emit(report: BlockReport): void {
    if (isIgnored(report)) return;
    const { block, context, samples } = report;
    this.#hasBlocked = true;
    this.#recorder.sourceLines?.add(samples);
    this.#recorder.block(block, attributedRequest(context), sampledStacks(samples));
  }

  /** The process ends now. */
  readonly endBySignal = (): void => {
    if (this.#file === undefined) return;
    attempt(() => this.session.settle());
    this.#write();
  };

  readonly #write = (): void => {
    const file = this.#file;
    if (file === undefined || this.#isForAnother(file)) return;
    writeReport(file, this.session.log);
    this.#writtenAt = changedAt(file);
  };

  /** A page that another process has written meanwhile is better than that of a launcher. */
  #isForAnother(file: string): boolean {
    const { isLauncher, launchedAt = Number.NaN } = this.#launches;
    if (isLauncher || (launchedAt > 0 && !this.#hasBlocked)) return true;
    const isNewer = changedAt(file) > Math.max(this.#recorder.times.startedAt, this.#writtenAt);
    return isNewer && (launchedAt > 0 || !this.#hasBlocked);
  }

  /** What a subscriber throws is an uncaught exception. */
  readonly #onRequest = (message: unknown): void =>
    void attempt(
      () => this.#recorder.request(message as RequestMessage),
      (error) =>
        this.session.log.later.log('error', 'cannot put a request on the report page', error),
    );
}

/**
 * Writes the page of this thread.
 * @returns whether it is written; never throws
 */
export function writeReport(path: string, log: OnceLogger): boolean {
  try {
    withoutTracing(() => writePage(path, recorderOfThread().read()));
    return true;
  } catch (error) {
    log.log('warn', 'cannot write the report page', error);
    return false;
  }
}

/** Unix time in milliseconds; 0 if there is no such file. */
const changedAt = (file: string) => attempt(() => statSync(file).mtimeMs) ?? 0;
