/**
 * The text of a file of code, and where its lines begin.
 *
 * Guarantees: nothing is thrown; only ordinary files of at most 1 MB are read; the latest 4 MB are
 * kept, and a file of them is read again only if it has changed.
 */
import { readFileSync, statSync } from 'node:fs';
import { attempt } from './guard.ts';

/** A larger file is made by a bundler. */
const MAX_BYTES = 1 << 20;
const MAX_KEPT_BYTES = 4 * MAX_BYTES;
/** What V8 counts as the end of a line. */
const LINE_END = /\r\n|[\n\r\u2028\u2029]/g;

export class CodeText {
  #starts: number[] | undefined;

  constructor(readonly text: string) {}

  /** Characters before a position, as V8 counts lines and columns; undefined if it is not there. */
  offsetOf(line = 0, column = 1): number | undefined {
    this.#starts ??= lineStartsOf(this.text);
    const start = this.#starts[line - 1];
    if (start === undefined) return undefined;
    const at = start + column - 1;
    return at < (this.#starts[line] ?? this.text.length + 1) ? at : undefined;
  }
}

function lineStartsOf(text: string): number[] {
  const starts = [0];
  LINE_END.lastIndex = 0;
  while (LINE_END.test(text)) starts.push(LINE_END.lastIndex);
  return starts;
}

/** By path. */
const texts = new Map<string, { readonly version: string; readonly code: CodeText }>();
let keptBytes = 0;

/** Undefined if it is no ordinary file, or too large; an empty text if it is gone. */
export function readCode(path: string): CodeText | undefined {
  return attempt(() => {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats === undefined) return new CodeText('');
    const { mtimeMs, size } = stats;
    if (!stats.isFile() || size > MAX_BYTES) return undefined;
    const version = `${mtimeMs} ${size}`;
    const known = texts.get(path);
    if (known?.version === version) return known.code;
    // V8 does not count the byte order mark.
    const code = new CodeText(readFileSync(path, 'utf8').replace(/^\ufeff/, ''));
    keptBytes += size;
    if (keptBytes > MAX_KEPT_BYTES) {
      texts.clear();
      keptBytes = size;
    }
    texts.set(path, { version, code });
    return code;
  });
}
