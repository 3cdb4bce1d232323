/** Lines on stderr, each whole: if that cannot be, nothing of it is written. */
import { writeSync } from 'node:fs';

const STDERR = 2;

/** A line was cut off: what comes next begins one of its own. */
let isTorn = false;

/** Never throws. */
export function writeLines(lines: (cwd: string) => readonly string[]): void {
  try {
    write(Buffer.from(`${isTorn ? '\n' : ''}${lines(process.cwd()).join('\n')}\n`));
  } catch {
    // Closed, a pipe that is full, a working directory that is gone: there is nowhere to write.
  }
}

function write(bytes: Buffer): void {
  let written = 0;
  try {
    while (written < bytes.length) {
      const count = writeSync(STDERR, bytes, written);
      if (!(count > 0)) break;
      written += count;
    }
  } finally {
    if (written > 0) isTorn = written < bytes.length;
  }
}
