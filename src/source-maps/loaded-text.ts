/**
 * Which code a loader made in memory (`ts-node`, `@swc-node/register`, `@babel/register`, `tsx`):
 * its file has other text than what runs, so a line of what runs is no line of the file. Reads
 * ordinary files of at most 1 MB. Never throws.
 */
import { readFileSync, statSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { toPath } from '../support/file-url.ts';
import { attempt } from '../support/guard.ts';
import { Lru } from './lru.ts';
import type { CodePosition, SourcePosition } from './position.ts';

/** A larger file is made by a bundler. */
const MAX_BYTES = 1024 * 1024;
const MAX_FILES = 5000;
/** What V8 counts as the end of a line. */
const LINE_END = /\r\n|[\n\r\u2028\u2029]/g;

/** V8 cannot run such a file: Node.js replaces its types by blanks, or a loader compiles it. */
export const needsCompiler = (file: string) => /\.(?:[cm]?ts|tsx|jsx)$/.test(toPath(file));

/** Not Node.js' own code, not `eval`, not a bundler's `webpack-internal:`. */
export const isOfFile = (file: string) => file.startsWith('file:') || isAbsolute(file);

export class LoadedText {
  /** The largest offset that was found to be the same in the file. */
  readonly #sameUntil = new Lru<string, number>(MAX_FILES);
  readonly #transformed = new Lru<string, true>(MAX_FILES);
  /** Files that are read are kept until then. */
  #texts: Map<string, string | undefined> | undefined;

  /**
   * Those of the positions whose file has other text than what runs.
   * @param hasLoader whether files that V8 can run as they are may have been transformed
   */
  transformed(
    positions: readonly (CodePosition | undefined)[],
    hasLoader: boolean,
  ): Set<CodePosition> {
    this.#texts = new Map();
    try {
      return new Set(
        positions.filter(
          (position) =>
            position && isOfFile(position.file) && this.#isTransformed(position, hasLoader),
        ) as CodePosition[],
      );
    } finally {
      this.#texts = undefined;
    }
  }

  #isTransformed(position: CodePosition, hasLoader: boolean): boolean {
    const { file, offset } = position;
    const isCompiled = needsCompiler(file);
    if (!isCompiled && !hasLoader) return false;
    if (this.#transformed.has(file)) return true;
    // Where a function begins has no offset: it is decided by what runs in it.
    if (offset === undefined || offset <= (this.#sameUntil.get(file) ?? -1)) return false;
    const text = this.#textOf(file);
    if (text === undefined ? !isCompiled : isPositionIn(text, position)) {
      this.#sameUntil.set(file, offset);
      return false;
    }
    this.#transformed.set(file, true);
    return true;
  }

  #textOf(file: string): string | undefined {
    const texts = this.#texts ?? new Map<string, string | undefined>();
    if (!texts.has(file))
      texts.set(
        file,
        attempt(() => readText(toPath(file))),
      );
    return texts.get(file);
  }
}

/** Undefined if it is no ordinary file, or too large; empty if there is no such file. */
function readText(path: string): string | undefined {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return '';
  if (!stats.isFile() || stats.size > MAX_BYTES) return undefined;
  return readFileSync(path, 'utf8').replace(/^\ufeff/, '');
}

/**
 * Whether all that runs before this position is as long as in the text. It is if Node.js has
 * replaced types by blanks, and not if a compiler has made the code.
 */
function isPositionIn(text: string, { line, column, offset }: CodePosition): boolean {
  let start = 0;
  LINE_END.lastIndex = 0;
  for (let i = 1; i < line; i++) {
    if (LINE_END.exec(text) === null) return false;
    start = LINE_END.lastIndex;
  }
  const end = LINE_END.exec(text)?.index ?? text.length;
  const at = start + column - 1;
  return at <= end && at === offset;
}

/** The file, and nowhere in it. */
export const withoutLine = ({ file }: CodePosition): SourcePosition => ({
  file: toPath(file),
  line: undefined,
  column: undefined,
});
