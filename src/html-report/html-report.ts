/**
 * The report page of the active session: brings what the session finds to the recorder of the
 * thread, and writes the page when the process exits, on SIGURG, and when the session stops.
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
import { knownRecorder, recorderOfThread } from './recorder.ts';
import { SourceLines } from './source-lines.ts';

// Taken once: an application may replace them.
const { statSync } = fs;

export class HtmlReport implements SessionExtra {
  readonly failure = 'cannot put a block on the report page';
  readonly #recorder = recorderOfThread();
  /** Absolute: the application may change its working directory. */
  readonly #file: string;
  readonly #launches = launches();
  #hasBlocked = false;
  /** When this process changed it last. */
  #writtenAt = 0;

  constructor(
    private readonly session: SessionView,
    reportFile: string,
  ) {
    this.#file = fileOfThisThread(reportFile);
  }

  start(): void {
    const { config, origin } = this.session;
    this.#recorder.times.start();
    this.#recorder.thresholdMillis = config.thresholdMillis;
    this.#recorder.sourceLines = config.reportSource
      ? new SourceLines(createOriginOf(origin))
      : undefined;
    subscribe(REQUEST_CHANNEL, this.#onRequest);
    listen('exit', this.endBySignal);
    // A worker thread gets no signals.
    if (isMainThread && process.platform !== 'win32') listen(SUMMARY_SIGNAL, this.#write);
  }

  /** Writes the page now: the process may exit long after this. */
  stop(): void {
    this.#recorder.times.stop();
    unsubscribe(REQUEST_CHANNEL, this.#onRequest);
    unlisten('exit', this.endBySignal);
    unlisten(SUMMARY_SIGNAL, this.#write);
    this.#write();
  }

  /** 50 times a second. */
  lag(millis: number, samples: number): void {
    const { clock } = this.session;
    const now = clock.now();
    const [time, busy] = [this.#recorder.times.now, now - clock.waited()];
    for (let i = 0; i < samples; i++) this.#recorder.lag(time, busy, millis);
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
    attempt(() => this.session.settle());
    this.#write();
  };

  readonly #write = (): void => {
    if (this.#isForAnother()) return;
    writeReport(this.#file, this.session.log);
    this.#writtenAt = changedAt(this.#file);
  };

  /** A page that another process has written meanwhile is better than that of a launcher. */
  #isForAnother(): boolean {
    const { isLauncher, launchedAt = Number.NaN } = this.#launches;
    if (isLauncher || (launchedAt > 0 && !this.#hasBlocked)) return true;
    const isNewer =
      changedAt(this.#file) > Math.max(this.#recorder.times.startedAt, this.#writtenAt);
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
    const recorder = knownRecorder();
    if (recorder === undefined) throw new Error('it needs the option reportFile');
    withoutTracing(() => writePage(path, recorder.read()));
    return true;
  } catch (error) {
    log.log('warn', 'cannot write the report page', error);
    return false;
  }
}

/** Unix time in milliseconds; 0 if there is no such file. */
const changedAt = (file: string) => attempt(() => statSync(file).mtimeMs) ?? 0;
