/**
 * The report page of the active session: brings what the session finds to the recorder of the
 * thread, and writes the page when the process exits, on SIGURG, and when the session stops.
 */
import fs from 'node:fs';
import { isMainThread } from 'node:worker_threads';
import {
  BLOCK_CHANNEL,
  type BlockMessage,
  LAG_CHANNEL,
  type LagMessage,
  REQUEST_CHANNEL,
  type RequestMessage,
} from '../../channels.ts';
import { withoutTracing } from '../../otel/sdk-internals.ts';
import { copies } from '../../support/copies.ts';
import { fileOfThisThread, fileOfWorker } from '../../support/files.ts';
import { attempt } from '../../support/guard.ts';
import { launches } from '../../support/launches.ts';
import { listen, unlisten } from '../../support/process-listeners.ts';
import { follow, type Output, type OutputSession, type RunningOutput } from '../output.ts';
import { SUMMARY_SIGNAL } from '../summary/run-times.ts';
import { writePage } from './page-file.ts';
import { type ReportRecorder, recorderOfThread } from './recorder.ts';
import { SourceLines } from './source-lines.ts';

// Taken once: an application may replace them.
const { statSync } = fs;

/** Ids of worker threads whose pages are looked for: 1 µs each. */
const MAX_WORKERS = 100;

/** The option `reportFile`. */
export const htmlReport: Output = (session) => {
  const { reportFile } = session.config;
  return reportFile === undefined ? undefined : new HtmlReport(session, reportFile);
};

class HtmlReport implements RunningOutput {
  readonly #recorder = recorderOfThread();
  /** Absolute: the application may change its working directory. */
  readonly #file: string;
  readonly #launches = launches();
  readonly #unsubscribe: readonly (() => void)[];
  #hasBlocked = false;
  /** When this process changed it last. */
  #writtenAt = 0;

  constructor(
    private readonly session: OutputSession,
    reportFile: string,
  ) {
    const { config, log } = session;
    this.#file = fileOfThisThread(reportFile);
    copies().writeReport = (path) =>
      withoutTracing(() => {
        const workers = workersBeside(path, this.#recorder);
        writePage(path, this.#recorder.read(workers));
      });
    this.#recorder.times.start();
    this.#recorder.thresholdMillis = config.thresholdMillis;
    this.#recorder.sourceLines = config.reportSource ? new SourceLines() : undefined;
    const failed = (error: unknown) =>
      log.later.log('error', 'cannot put something on the report page', error);
    this.#unsubscribe = [
      follow<BlockMessage>(BLOCK_CHANNEL, (block) => this.#onBlock(block), failed),
      follow<RequestMessage>(REQUEST_CHANNEL, (each) => this.#recorder.request(each), failed),
      follow<LagMessage>(LAG_CHANNEL, (lag) => this.#onLag(lag), failed),
    ];
    listen('exit', this.endBySignal);
    // A worker thread gets no signals.
    if (isMainThread && process.platform !== 'win32') listen(SUMMARY_SIGNAL, this.#write);
  }

  /** Writes the page now: the process may exit long after this. */
  stop(): void {
    this.#recorder.times.stop();
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    unlisten('exit', this.endBySignal);
    unlisten(SUMMARY_SIGNAL, this.#write);
    this.#write();
  }

  /** 50 times a second. */
  #onLag({ lagMillis, samples, busyMillis }: LagMessage): void {
    const time = this.#recorder.times.now;
    for (let i = 0; i < samples; i++) this.#recorder.lag(time, busyMillis, lagMillis);
  }

  #onBlock(message: BlockMessage): void {
    if (message.ignored === true) return;
    const stacks = message.stacks();
    this.#hasBlocked = true;
    this.#recorder.sourceLines?.add(stacks);
    this.#recorder.block(message.block, message.request(), stacks);
  }

  /** The process ends now. */
  readonly endBySignal = (): void => {
    attempt(() => this.session.settle());
    this.#write();
  };

  readonly #write = (): void => {
    if (this.#isForAnother()) return;
    const failed = (error: unknown) =>
      this.session.log.log('warn', 'cannot write the report page', error);
    attempt(() => copies().writeReport?.(this.#file), failed);
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
}

/** Worker threads that have written pages beside that of the main thread in this run. */
function workersBeside(path: string, { times }: ReportRecorder): number[] {
  const ids = isMainThread ? Array.from({ length: MAX_WORKERS }, (_, i) => i + 1) : [];
  return ids.filter((id) => changedAt(fileOfWorker(path, id)) > times.startedAt);
}

/** Unix time in milliseconds; 0 if there is no such file. */
const changedAt = (file: string) =>
  attempt(() => statSync(file, { throwIfNoEntry: false })?.mtimeMs) ?? 0;
