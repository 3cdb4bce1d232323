/**
 * Bounds of the application's text: what a name or a file is cut to where it enters this package,
 * before it is kept, sent to a thread or exported. A generator's names and `data:` modules have
 * megabytes, and each frame of a stack would have a copy.
 *
 * NO REGULAR EXPRESSION may run here: text is cut inside stack samples, see `sample/stack.ts`.
 */
import { Buffer } from 'node:buffer';

export const MAX_NAME_LENGTH = 256;
/** The longest path that Linux opens: a file of this length still has its source map. */
export const MAX_FILE_LENGTH = 4096;
const MAX_DATA_URL_LENGTH = 128;
export const MAX_STACK_TRACE_LENGTH = 32_768;

const isDataUrl = (file: string) => file.startsWith('data:');

export const isLongFile = (file: string): boolean =>
  file.length > (isDataUrl(file) ? MAX_DATA_URL_LENGTH : MAX_FILE_LENGTH);

export const boundedName = (name: string): string => cut(name, MAX_NAME_LENGTH);

/** The end of a path says more than its start; the content of a `data:` URL says nothing. */
export function boundedFile(file: string): string {
  if (!isLongFile(file)) return file;
  if (isDataUrl(file)) return cut(file, MAX_DATA_URL_LENGTH);
  return copy(`…${file.slice(1 - MAX_FILE_LENGTH)}`);
}

export function cut(text: string, max: number): string {
  return text.length > max ? copy(`${text.slice(0, max - 1)}…`) : text;
}

/** V8 makes a slice a reference to the whole text, which would be kept. */
const copy = (text: string) => Buffer.from(text).toString();
