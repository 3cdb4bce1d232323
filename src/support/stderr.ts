/**
 * Lines on stderr. Guarantees: lines of up to 4 kB are one write, whole or not there; a reader that
 * is slow is waited for no longer than the times below; nothing throws or emits an error.
 *
 * They do not go through `process.stderr`, which the application may have replaced. If half a line
 * of the application waits in that stream, they stand in the middle of it.
 */
import fs from 'node:fs';
import { PACKAGE_NAME } from '../version.ts';
import { printable } from './escape.ts';
import { workingFolder } from './files.ts';
import { attempt } from './guard.ts';
import { now, wait } from './time.ts';

const STDERR = 2;
/** How long the application waits for room in a pipe, once until there is some. */
const MAX_WAIT_MILLIS = 20;
/** How long a process that ends waits, or a thread that nobody waits for. */
const MAX_FREE_WAIT_MILLIS = 200;
const RETRY_MILLIS = 2;
const sleepCell = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
let isFull = false;

/**
 * @param lines are given the working directory
 * @param mayWait the process ends, or nobody waits for this thread
 */
export function writeLines(lines: (cwd: string) => readonly string[], mayWait = false): void {
  attempt(() => {
    const bytes = Buffer.from(`${lines(workingFolder()).join('\n')}\n`);
    const waitMillis = isFull ? 0 : MAX_WAIT_MILLIS;
    const end = now() + (mayWait ? MAX_FREE_WAIT_MILLIS : waitMillis);
    for (let written = 0; ; wait(sleepCell, 0, 0, RETRY_MILLIS)) {
      try {
        written += fs.writeSync(STDERR, bytes, written);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
      }
      isFull = written < bytes.length;
      if (!isFull || now() >= end) return;
    }
  });
}

/** Messages of a preloaded entry, before there is a logger. */
export const sayAs = (entry: string) => (message: string, detail?: unknown) => {
  const more = detail instanceof Error ? `: ${detail.message}` : '';
  writeLines(() => [
    printable(`${PACKAGE_NAME}/${entry}: ${message}${more}`, Number.POSITIVE_INFINITY),
  ]);
};
