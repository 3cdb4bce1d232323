/**
 * What a file of generated code says about its source map: the comment `//# sourceMappingURL=…`.
 * `refersToMap` and `namesOnlyFiles` read only the end of the file, on the main thread: some 50 µs,
 * once for each file.
 */
import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs';
import path from 'node:path';
import { isFile } from '../support/files.ts';

const COMMENT = 'sourceMappingURL=';
/** Text in front of a comment may resemble one: a bundler's own code, for example. */
const MAX_COMMENTS = 16;
/** A longer URL is none that a file has. */
const MAX_URL_BYTES = 4096;
const MAX_DATA_HEADER = 200;
/** Limit for a map that is not base64: all of it is decoded as one string. */
const MAX_PLAIN_DATA_BYTES = 4 * 1024 * 1024;
const TAIL_BYTES = 2048;

/**
 * Whether a file may have a source map. Most files have none, and asking the thread would delay the
 * report of a block.
 */
export function refersToMap(file: string): boolean {
  if (isFile(`${file}.map`)) return true;
  const map = namedMap(file);
  return map === INLINE || (map !== undefined && isFile(map));
}

/** Whether the map that a file names, if it names one, is in it or an ordinary file. */
export function namesOnlyFiles(file: string): boolean {
  if (!existsSync(file)) return true;
  const map = isFile(file) ? namedMap(file) : '';
  return map === undefined || map === INLINE || isFile(map);
}

/** A map that is in the file itself. */
const INLINE = 'data:';

/** Path of the map that the end of a file names, {@link INLINE}, or undefined. */
function namedMap(file: string): string | undefined {
  const tail = isFile(file) ? readTail(file) : '';
  const start = tail.lastIndexOf(COMMENT);
  if (start !== -1) {
    const [url = ''] = tail.slice(start + COMMENT.length).split(/[\s?]/);
    return url.startsWith(INLINE) ? INLINE : path.resolve(path.dirname(file), decodeURI(url));
  }
  // If the last line is longer than the tail, an inline map may be in it.
  return tail.length > TAIL_BYTES / 2 && !tail.includes('\n') ? INLINE : undefined;
}

function readTail(file: string): string {
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

/** What the last comment of the code has: the map's URL, or the map itself. */
export function findMapReference(code: Buffer): { url?: string; inline?: Buffer } {
  let at = code.length;
  for (let i = 0; i < MAX_COMMENTS && at > 0; i++) {
    at = code.lastIndexOf(COMMENT, at - 1, 'latin1');
    if (at === -1) return {};
    const opening = code.toString('latin1', Math.max(0, at - 4), at);
    const [, kind] = /\/([/*])[#@]\s$/.exec(opening) ?? [];
    if (kind === undefined) continue;
    const start = at + COMMENT.length;
    let end = code.indexOf(kind === '*' ? '*/' : '\n', start, 'latin1');
    if (end === -1) end = code.length;
    while (end > start && (code[end - 1] as number) <= 0x20) end--;
    if (code.toString('latin1', start, start + 5) === 'data:') {
      const inline = readDataUrl(code.subarray(start, end));
      return inline === undefined ? {} : { inline };
    }
    const url = end - start <= MAX_URL_BYTES ? code.toString('utf8', start, end) : '';
    if (url !== '' && !/[\s"'`]/.test(url)) return { url };
  }
  return {};
}

/** The bytes of a `data:` URL; undefined if it is none that can be a map. */
function readDataUrl(url: Buffer): Buffer | undefined {
  const comma = url.indexOf(0x2c);
  if (comma === -1 || comma > MAX_DATA_HEADER) return undefined;
  const header = url.toString('latin1', 0, comma);
  if (!/^data:(application|text)\/json[;,]?/i.test(`${header},`)) return undefined;
  if (/;base64$/i.test(header)) return Buffer.from(url.toString('latin1', comma + 1), 'base64');
  if (url.length > MAX_PLAIN_DATA_BYTES) return undefined;
  return Buffer.from(decodeURIComponent(url.toString('utf8', comma + 1)));
}
