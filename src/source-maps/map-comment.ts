/**
 * What the end of a file says about its source map. Reads only that, on the main thread: some
 * 50 µs, once for each file.
 */
import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs';
import path from 'node:path';
import { isFile } from '../support/files.ts';

const TAIL_BYTES = 2048;
const COMMENT = 'sourceMappingURL=';

/**
 * Whether a file may have a source map. Most files have none, and asking the thread would delay the
 * report of a block.
 */
export function refersToMap(file: string): boolean {
  if (existsSync(`${file}.map`)) return true;
  const tail = tailOf(file);
  if (tail === undefined) return false;
  // If the last line is longer than the tail, an inline map may be in it.
  return tail.includes(COMMENT) || (tail.length > TAIL_BYTES / 2 && !tail.includes('\n'));
}

/** Whether the map that a file names, if it names one, is in it or an ordinary file. */
export function namesOnlyFiles(file: string): boolean {
  if (!existsSync(file)) return true;
  const tail = tailOf(file);
  if (tail === undefined) return false;
  const start = tail.lastIndexOf(COMMENT);
  if (start === -1) return true;
  const [url = ''] = tail.slice(start + COMMENT.length).split(/\s/);
  return url.startsWith('data:') || isFile(path.resolve(path.dirname(file), decodeURI(url)));
}

/** Undefined if it is no ordinary file. */
function tailOf(file: string): string | undefined {
  if (!isFile(file)) return undefined;
  const descriptor = openSync(file, 'r');
  try {
    const { size } = fstatSync(descriptor);
    const buffer = Buffer.alloc(Math.min(size, TAIL_BYTES));
    readSync(descriptor, buffer, 0, buffer.length, Math.max(0, size - buffer.length));
    return buffer.toString('latin1').trimEnd();
  } finally {
    closeSync(descriptor);
  }
}
