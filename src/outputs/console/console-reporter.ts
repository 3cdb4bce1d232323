/**
 * Reports blocks on stderr: a line for each as it is found, and a summary when the process exits,
 * is sent SIGURG, or the instrumentation is disabled. It writes to the file descriptor: that needs
 * no flush, and what intercepts `console` or `process.stderr` gets only what the application has
 * written.
 */
import { isMainThread } from 'node:worker_threads';
import {
  BLOCK_CHANNEL,
  type BlockMessage,
  REQUEST_CHANNEL,
  type RequestMessage,
} from '../../channels.ts';
import { blockLine, PLAIN, repeatedLine } from '../../core/emit/block-line.ts';
import { copies } from '../../support/copies.ts';
import { jsonLine } from '../../support/escape.ts';
import { launches } from '../../support/launches.ts';
import { listen, unlisten } from '../../support/process-listeners.ts';
import { writeLines } from '../../support/stderr.ts';
import type { EventLoopBlock } from '../../types.ts';
import { follow, type Output } from '../output.ts';
import { adviceOf } from '../summary/advice.ts';
import { blockJson, repeatedJson, summaryJson } from '../summary/json.ts';
import { functionKeyOf } from '../summary/requests.ts';
import { RunTimes, SUMMARY_SIGNAL } from '../summary/run-times.ts';
import { Summary } from '../summary/summary.ts';
import { hasColors, STYLED } from './paint.ts';
import { Repeats } from './repeats.ts';
import { SHOWN, summaryLines } from './summary-lines.ts';

/** As pino, Bunyan and what reads their lines number the levels. */
const LEVEL = { info: 30, warn: 40 };

/** Places whose advice is printed once only. */
const MAX_ADVISED = 1000;

/** Stopped until the application is loaded: its summary is due if the process exits before. */
let paused: ConsoleReporter | undefined;

/** The option `console`. */
export const consoleReport: Output = ({ config, log, settle }) => {
  const { console: format, thresholdMillis } = config;
  if (format === false) return undefined;
  const failed = (error: unknown) => log.later.log('error', 'cannot print a block', error);
  const reporter = new ConsoleReporter(format, settle, thresholdMillis, false, failed);
  reporter.start();
  return reporter;
};

export class ConsoleReporter {
  readonly #summary = new Summary();
  readonly #paint = hasColors() ? STYLED : PLAIN;
  readonly #times = new RunTimes();
  /** Since the summary that was written last as the end of the process, or of the report. */
  #newBlocks = 0;
  readonly #advised = new Set<string>();
  readonly #repeats = new Repeats();
  readonly #launches = launches();
  #hasSummarized = false;
  #unsubscribe: (() => void)[] = [];

  /**
   * @param format `true`: lines for people
   * @param settle reports the block that may be running when the process exits
   * @param thresholdMillis of blocks; start-up is mentioned from this long on
   * @param isEntry of the entry `/console`: says also that nothing blocked
   */
  constructor(
    private readonly format: true | 'json',
    private readonly settle: () => void,
    private readonly thresholdMillis: number,
    private readonly isEntry = false,
    private readonly failed?: (error: unknown) => void,
  ) {}

  start(): void {
    if (paused !== undefined) unlisten('exit', paused.#summarizeAtExit);
    paused = undefined;
    this.#times.start();
    this.#unsubscribe = [
      follow<BlockMessage>(BLOCK_CHANNEL, (message) => this.#onBlock(message), this.failed),
      follow<RequestMessage>(REQUEST_CHANNEL, (request) => this.#onRequest(request), this.failed),
    ];
    listen('exit', this.summarize);
    // A worker thread gets no signals.
    if (isMainThread && process.platform !== 'win32') listen(SUMMARY_SIGNAL, this.#onSignal);
  }

  /** Writes the summary now: the process may exit long after this. */
  stop(): void {
    this.#times.stop();
    for (const unsubscribe of this.#unsubscribe.splice(0)) unsubscribe();
    unlisten('exit', this.summarize);
    unlisten(SUMMARY_SIGNAL, this.#onSignal);
    if (copies().areWrappersKept) {
      paused = this;
      listen('exit', this.#summarizeAtExit);
    } else this.#summarizeOnce();
  }

  #onBlock(message: BlockMessage): void {
    if (message.ignored === true || this.#isSilent()) return;
    const { block } = message;
    this.#newBlocks++;
    const { listeningSince = Number.POSITIVE_INFINITY } = this.#times;
    const timed = this.#times.of(block);
    const attribution = message.request();
    this.#summary.add(timed, this.#times.listeningSince, attribution.operation);
    this.#writeRepeated(this.#times.now);
    if (!this.#repeats.isShown(block)) return;
    writeLines((cwd) => {
      const isStartUp =
        attribution.operation === undefined && timed.startTimeMillis < listeningSince;
      if (this.format !== 'json') {
        // A name says by itself what it is.
        const when = isStartUp && block.code === undefined ? ', before a server listened' : '';
        const line = blockLine(block, attribution, cwd, this.#paint) + when;
        return [line, ...this.#adviceOn(block, isStartUp)];
      }
      const line = blockLine(block, attribution, cwd, PLAIN);
      return [this.#jsonLine('warn', line, blockJson(block, attribution, isStartUp))];
    });
  }

  /** @param now as for {@link Repeats.take} */
  #writeRepeated(now?: number): void {
    const repeated = this.#repeats.take(now);
    if (repeated.length === 0) return;
    writeLines((cwd) =>
      repeated.map((each) => {
        if (this.format !== 'json') return repeatedLine(each, cwd, this.#paint);
        return this.#jsonLine('warn', repeatedLine(each, cwd, PLAIN), repeatedJson(each));
      }),
    );
  }

  /** With the three fields by which log viewers know a line. */
  #jsonLine(level: keyof typeof LEVEL, msg: string, line: object): string {
    return jsonLine({ ...line, level: LEVEL[level], time: Math.round(this.#times.now), msg });
  }

  /** Once for each place: the others of it are lines only. */
  #adviceOn(block: EventLoopBlock, isStartUp: boolean): string[] {
    const advice = adviceOf(block, block.code?.requires, isStartUp);
    const key = `${functionKeyOf(block.code)} ${advice}`;
    if (advice === undefined || this.#advised.has(key)) return [];
    if (this.#advised.size < MAX_ADVISED) this.#advised.add(key);
    return [`  ${this.#paint.aside(advice)}`];
  }

  readonly summarize = (): void => {
    this.settle();
    this.#summarizeOnce(true);
  };

  readonly #onSignal = (): void => {
    this.settle();
    this.#writeSummary();
  };

  #onRequest(message: RequestMessage): void {
    if (this.#isSilent()) return;
    this.#summary.addRequest(this.#times.of(message), this.#times.listeningSince);
  }

  #isSilent(): boolean {
    return copies().isConsoleReporting && !this.isEntry;
  }

  /** A program that reads expects a summary. */
  #saysNever(): boolean {
    return (this.isEntry || this.format !== true) && !this.#isSilent();
  }

  readonly #summarizeAtExit = (): void => this.#summarizeOnce(true);

  #summarizeOnce(isLast = false): void {
    // The application that this process has launched has the last word.
    if (this.#launches.launchedAt !== undefined) return;
    if (this.#newBlocks > 0 || (this.#saysNever() && !this.#hasSummarized))
      this.#writeSummary(isLast);
    this.#newBlocks = 0;
    this.#hasSummarized = true;
  }

  #writeSummary(isLast = false): void {
    if (this.#isSilent()) return;
    this.#writeRepeated();
    const maxPlaces = this.format === 'json' ? undefined : SHOWN;
    const summary = this.#summary.read(this.#times.read(this.thresholdMillis), maxPlaces);
    writeLines((cwd) => {
      if (this.format !== 'json')
        return summaryLines(summary, cwd, this.#paint, this.thresholdMillis);
      const [first = ''] = summaryLines(summary, cwd, PLAIN, this.thresholdMillis);
      return [this.#jsonLine('info', first, summaryJson(summary))];
    }, isLast);
  }
}
