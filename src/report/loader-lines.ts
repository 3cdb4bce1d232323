/**
 * Leaves out the lines of code that a loader made, which are no lines of its file. It runs on the
 * watchdog thread: it reads files, and the blocked thread has the loader's source maps.
 */
import { needsCompiler, transformedPositions, withoutLine } from '../source-maps/loaded-text.ts';
import { positionsOfStackTrace, withSourcePositions } from '../source-maps/position.ts';
import type { OngoingFacts } from './ongoing-facts.ts';

/** @param hasLoader whether files that V8 can run as they are may have been transformed */
export function withoutLoaderLines(facts: OngoingFacts, hasLoader: boolean): OngoingFacts {
  const { code, offsets = [] } = facts;
  if (code === undefined) return facts;
  const positions = positionsOfStackTrace(code.stackTrace).map((position, i) => {
    return position && { ...position, offset: offsets[i] };
  });
  const inFiles = positions.filter((position) => position !== undefined);
  const candidates = inFiles.filter(({ file }) => hasLoader || needsCompiler(file));
  const transformed = transformedPositions(candidates);
  if (transformed.size === 0) return facts;
  const found = positions.map((position) =>
    position !== undefined && transformed.has(position) ? withoutLine(position) : undefined,
  );
  const stackTrace = withSourcePositions(code.stackTrace, found);
  const isOfLoader = [...transformed].some(({ file }) => file === code.file);
  const { line, column, functionLine, functionColumn, ...place } = code;
  return { ...facts, code: isOfLoader ? { ...place, stackTrace } : { ...code, stackTrace } };
}
