/**
 * Reports blocks on stderr: a line for each as it is found, and a summary when the process exits,
 * is sent SIGURG, or the instrumentation is disabled. It writes to the file descriptor: that needs
 * no flush, and what intercepts `console` or `process.stderr` gets only what the application has
 * written.
 */
import { writeSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';
import type { Context } from '@opentelemetry/api';
import type { EventLoopBlock } from '../types.ts';
import { attributionIn } from './attribution.ts';
import { blockLine, PLAIN } from './block-line.ts';
import { hasColors, STYLED } from './paint.ts';
import { Summary } from './summary.ts';

const STDERR = 2;
/** A process that does not listen to it ignores it: safe to send to the wrong one. */
const SUMMARY_SIGNAL = 'SIGURG';

export class ConsoleReporter {
  readonly #summary = new Summary();
  readonly #paint = hasColors() ? STYLED : PLAIN;
  #startedAt = 0;
  #blocks = 0;

  /** @param settle reports the block that may be running when the process exits */
  constructor(private readonly settle: () => void) {}

  start(): void {
    this.#startedAt = performance.now();
    process.on('exit', this.#onExit);
    // A worker thread gets no signals.
    if (isMainThread && process.platform !== 'win32') process.on(SUMMARY_SIGNAL, this.#onSignal);
  }

  /** Writes the summary now: the process may exit long after this. */
  stop(): void {
    process.off('exit', this.#onExit);
    process.off(SUMMARY_SIGNAL, this.#onSignal);
    if (this.#blocks > 0) this.#writeSummary();
  }

  block(block: EventLoopBlock, context: Context): void {
    this.#blocks++;
    this.#summary.add(block);
    this.#write((cwd) => [blockLine(block, attributionIn(context), cwd, this.#paint)]);
  }

  readonly #onExit = (): void => {
    this.settle();
    if (this.#blocks > 0) this.#writeSummary();
  };

  readonly #onSignal = (): void => this.#writeSummary();

  #writeSummary(): void {
    this.#write((cwd) =>
      this.#summary.lines(performance.now() - this.#startedAt, cwd, this.#paint),
    );
  }

  #write(lines: (cwd: string) => readonly string[]): void {
    try {
      writeSync(STDERR, `${lines(process.cwd()).join('\n')}\n`);
    } catch {
      // Closed, a pipe that is full, a working directory that is gone: there is nowhere to write.
    }
  }
}
