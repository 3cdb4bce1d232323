/**
 * The report page of the active session: brings what the session finds to the recorder of the
 * thread, and writes the page when the process exits, on SIGURG, and when the session stops.
 * Without `reportFile` nothing is written until `writeReport()` asks for it.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import fs from 'node:fs';
import { isMainThread } from 'node:worker_threads';
import type { Context } from '@opentelemetry/api';
import type { WeightedSample } from '../block.ts';
import type { SessionView } from '../extra.ts';
import type { OriginOf } from '../name/in-app.ts';
import { sampledStacks } from '../name/sampled-stacks.ts';
import type { OnceLogger } from '../otel/diag-once.ts';
import { withoutTracing } from '../otel/sdk-internals.ts';
import { attributedRequest } from '../report/attributed-request.ts';
import { REQUEST_CHANNEL, type RequestMessage } from '../report/request-channel.ts';
import { SUMMARY_SIGNAL } from '../summary/run-times.ts';
import { fileOfThisThread } from '../support/files.ts';
import { attempt } from '../support/guard.ts';
import { launches } from '../support/launches.ts';
import { listen, unlisten } from '../support/process-listeners.ts';
import type { EventLoopBlock, LoopProfile } from '../types.ts';
import { writePage } from './page-file.ts';
import { recorderOfThread } from './recorder.ts';
import { SourceLines } from './source-lines.ts';

// Taken once: an application may replace them.
const { statSync } = fs;

export class HtmlReport {
  readonly #recorder = recorderOfThread();
  /** Absolute: the application may change its working directory. */
  readonly #file: string | undefined;
  readonly #launches = launches();
  #hasBlocked = false;
  /** When this process changed it last. */
  #writtenAt = 0;

  constructor(
    reportFile: string | undefined,
    private readonly thresholdMillis: number,
    /** Undefined if no source is shown. */
    private readonly originOf: OriginOf | undefined,
    private readonly session: Pick<SessionView, 'settle' | 'loopProfile'>,
    private readonly log: OnceLogger,
  ) {
    this.#file = reportFile === undefined ? undefined : fileOfThisThread(reportFile);
  }

  start(): void {
    this.#recorder.times.start();
    this.#recorder.thresholdMillis = this.thresholdMillis;
    this.#recorder.sourceLines = this.originOf && new SourceLines(this.originOf);
    if (this.#file === undefined) return;
    this.#recorder.record();
    subscribe(REQUEST_CHANNEL, this.#onRequest);
    listen('exit', this.write);
    // A worker thread gets no signals.
    if (isMainThread && process.platform !== 'win32') listen(SUMMARY_SIGNAL, this.#write);
  }

  /** Writes the page now: the process may exit long after this. */
  stop(): void {
    this.#recorder.times.stop();
    if (this.#file === undefined) return;
    unsubscribe(REQUEST_CHANNEL, this.#onRequest);
    unlisten('exit', this.write);
    unlisten(SUMMARY_SIGNAL, this.#write);
    this.#write();
  }

  block(block: EventLoopBlock, context: Context, samples: readonly WeightedSample[]): void {
    this.#hasBlocked = true;
    this.#recorder.sourceLines?.add(samples);
    this.#recorder.block(block, attributedRequest(context), sampledStacks(samples));
  }

  /** Whether there is a file to write. */
  get isRecording(): boolean {
    return this.#file !== undefined;
  }

  /** 50 times a second, with a file to write. See `LagTimeline.add`. */
  lag(now: number, busy: number, lagMillis: number): void {
    this.#recorder.lag(now, busy, lagMillis);
  }

  /** The process ends now. */
  readonly write = (): void => {
    if (this.#file === undefined) return;
    attempt(() => this.session.settle());
    this.#write();
  };

  readonly #write = (): void => {
    const file = this.#file;
    if (file === undefined || this.#isForAnother(file)) return;
    writeReport(file, this.session.loopProfile(), this.log);
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
      (error) => this.log.later.log('error', 'cannot put a request on the report page', error),
    );
}

/**
 * Writes the page of this thread.
 * @returns whether it is written; never throws
 */
export function writeReport(
  path: string,
  loopProfile: LoopProfile | undefined,
  log: OnceLogger,
): boolean {
  try {
    const recorder = recorderOfThread();
    writePage(
      path,
      withoutTracing(() => recorder.read(loopProfile)),
    );
    return true;
  } catch (error) {
    log.log('warn', 'cannot write the report page', error);
    return false;
  }
}

/** Unix time in milliseconds; 0 if there is no such file. */
const changedAt = (file: string) => attempt(() => statSync(file).mtimeMs) ?? 0;
