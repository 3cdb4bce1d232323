/**
 * Which code a loader made in memory (`ts-node`, `@swc-node/register`, `@babel/register`, `tsx`):
 * its file has other text than what runs, so a line of what runs is no line of the file.
 *
 * Guarantees: it never throws, and reads only ordinary files of at most 1 MB.
 */
import { readFileSync, statSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { toPath } from '../support/file-url.ts';
import { attempt } from '../support/guard.ts';
import type { GeneratedPosition, SourcePosition } from './position.ts';

/** A larger file is made by a bundler. */
const MAX_BYTES = 1024 * 1024;
/** What V8 counts as the end of a line. */
const LINE_END = /\r\n|[\n\r\u2028\u2029]/g;

/** V8 cannot run such a file: Node.js replaces its types by blanks, or a loader compiles it. */
export const needsCompiler = (file: string) => /\.(?:[cm]?ts|tsx|jsx)$/.test(toPath(file));

/** Not Node.js' own code, not `eval`, not a bundler's `webpack-internal:`. */
export const isOfFile = (file: string) => file.startsWith('file:') || isAbsolute(file);

/** The file, and nowhere in it. */
export const withoutLine = ({ file }: GeneratedPosition): SourcePosition => ({
  file: toPath(file),
  line: undefined,
  column: undefined,
});

/**
 * Those of the positions whose file has other text than what runs. One position decides for all of
 * its file: the start of a function has no offset, and the text may be the same up to a position.
 * @param hasLoader whether files that V8 can run as they are may have been transformed
 */
export function transformedPositions(
  positions: readonly GeneratedPosition[],
  hasLoader: boolean,
): Set<GeneratedPosition> {
  const texts = new Map<string, string | undefined>();
  const transformed = new Set<string>();
  for (const position of positions) {
    const { file, offset } = position;
    const isCompiled = needsCompiler(file);
    if (!isOfFile(file) || offset === undefined || !(isCompiled || hasLoader)) continue;
    if (!texts.has(file)) {
      const text = attempt(() => readText(toPath(file)));
      texts.set(file, text);
    }
    const text = texts.get(file);
    if (text === undefined ? isCompiled : !isPositionIn(text, position)) transformed.add(file);
  }
  return new Set(positions.filter(({ file }) => transformed.has(file)));
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
function isPositionIn(text: string, { line, column, offset }: GeneratedPosition): boolean {
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
