/**
 * Tells a developer what blocks, on stderr: a line for each block as it is found, and what blocked most when the process exits, is sent
 * SIGURG, or is watched no longer. Writes straight to the file descriptor: that needs nobody to flush it, and whoever intercepts `console` or
 * `process.stderr` gets nothing that the application has not said.
 */
import { writeSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';
import type { Context } from '@opentelemetry/api';
import type { EventLoopBlock } from '../types.ts';
import { blamedIn } from './blamed.ts';
import { blockLine, PLAIN } from './block-line.ts';
import { hasColors, STYLED } from './paint.ts';
import { Summary } from './summary.ts';

const STDERR = 2;
/** Ignored by a process that does not listen to it, and used by nothing else in Node.js: safe to send to the wrong one. */
const SUMMARY_SIGNAL = 'SIGURG';

export class ConsoleReporter {
  readonly #summary = new Summary();
  readonly #paint = hasColors() ? STYLED : PLAIN;
  #startedAt = 0;
  #blocks = 0;

  /** @param settle has the block that may be running when the process exits reported */
  constructor(private readonly settle: () => void) {}

  start(): void {
    this.#startedAt = performance.now();
    process.on('exit', this.#onExit);
    // A worker thread gets no signals.
    if (isMainThread && process.platform !== 'win32') process.on(SUMMARY_SIGNAL, this.#onSignal);
  }

  /** Says what it has to say at the exit, which may be long after this. */
  stop(): void {
    process.off('exit', this.#onExit);
    process.off(SUMMARY_SIGNAL, this.#onSignal);
    if (this.#blocks > 0) this.#writeSummary();
  }

  block(block: EventLoopBlock, context: Context): void {
    this.#blocks++;
    this.#summary.add(block);
    this.#write((cwd) => [blockLine(block, blamedIn(context), cwd, this.#paint)]);
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
      // Closed, a pipe that is full, a working directory that is gone: there is nobody to tell.
    }
  }
}
