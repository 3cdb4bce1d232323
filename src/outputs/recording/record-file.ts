/**
 * The file of the option `recordFile`.
 *
 * Guarantees: each line is appended by a single write, so lines of several threads and processes do
 * not mix; the file and the one before it, `FILE.1`, have at most 16 MiB each; nothing but an
 * ordinary file is written to.
 */
import fs from 'node:fs';
import { dirname } from 'node:path';
import { isFile, makeFolder, OWN_MODE, withFile } from '../../support/files.ts';

// Taken once: spans are made of these by `@opentelemetry/instrumentation-fs`.
const { constants, renameSync, statSync, writeSync } = fs;

const MAX_FILE_BYTES = 16 << 20;

/**
 * If two processes find the same file full at the same moment, the lines of `FILE.1` may be lost.
 * @throws what the file system says, or that it is no ordinary file
 */
export function appendLine(path: string, line: string, maxBytes = MAX_FILE_BYTES): void {
  const bytes = Buffer.from(`${line}\n`);
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size === 0) makeFolder(dirname(path));
  else if (size + bytes.length > maxBytes && isFile(path)) renameSync(path, `${path}.1`);
  withFile(path, constants.O_APPEND, (file) => writeSync(file, bytes), OWN_MODE);
}
