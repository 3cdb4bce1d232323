/**
 * Which code a loader made in memory (`ts-node`, `@swc-node/register`, `@babel/register`, `tsx`):
 * its file has other text than what runs, so a line of what runs is no line of the file.
 *
 * Guarantees: it never throws, and reads only ordinary files of at most 1 MB.
 */
import { isAbsolute } from 'node:path';
import { readCode } from '../../../support/code-text.ts';
import { toPath } from '../../../support/file-url.ts';
import type { GeneratedPosition, SourcePosition } from './position.ts';

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
 * Those of the positions whose file has other text than what runs: it is read. One position decides
 * for all of its file: the start of a function has no offset, and the text may be the same up to a
 * position. Never throws.
 */
export function transformedPositions<Position extends GeneratedPosition>(
  positions: readonly Position[],
): Set<Position> {
  const transformed = new Set<string>();
  for (const { file, line, column, offset } of positions) {
    if (!isOfFile(file) || offset === undefined || transformed.has(file)) continue;
    const code = readCode(toPath(file));
    // All that runs before the position is as long as in the text, if Node.js has replaced types by
    // blanks, and not if a compiler has made the code.
    const isOther = code ? code.offsetOf(line, column) !== offset : needsCompiler(file);
    if (isOther) transformed.add(file);
  }
  return new Set(positions.filter(({ file }) => transformed.has(file)));
}
