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

/** The text of a file; undefined if it is no ordinary file, or too large; empty if it is gone. */
export type TextOf = (file: string) => string | undefined;

/**
 * Those of the positions whose file has other text than what runs. One position decides for all of
 * its file: the start of a function has no offset, and the text may be the same up to a position.
 */
export function transformedPositions(
  positions: readonly GeneratedPosition[],
  textOf: TextOf,
): Set<GeneratedPosition> {
  const transformed = new Set<string>();
  for (const position of positions) {
    const { file, offset } = position;
    if (!isOfFile(file) || offset === undefined || transformed.has(file)) continue;
    const text = textOf(file);
    const isOther = text === undefined ? needsCompiler(file) : !isPositionIn(text, position);
    if (isOther) transformed.add(file);
  }
  return new Set(positions.filter(({ file }) => transformed.has(file)));
}

/** Never throws. */
export const readText: TextOf = (file) =>
  attempt(() => {
    const stats = statSync(toPath(file), { throwIfNoEntry: false });
    if (stats === undefined) return '';
    if (!stats.isFile() || stats.size > MAX_BYTES) return undefined;
    return withoutMark(readFileSync(toPath(file), 'utf8'));
  });

/** V8 does not count the byte order mark. */
const withoutMark = (text: string) => text.replace(/^\ufeff/, '');

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
