/** The code that a block is reported with, at its positions in the source. */
import { MapFiles } from './map-files.ts';
import type { CodePosition, SourcePositionList } from './position.ts';
import { positionsOfStackTrace, withSourcePositions } from './stack-trace.ts';

export interface LocatedCode {
  readonly functionName?: string | undefined;
  readonly file?: string | undefined;
  readonly line?: number | undefined;
  readonly column?: number | undefined;
  /** Where the function starts, as V8 has it (`getEnclosingLineNumber`). */
  readonly functionLine?: number | undefined;
  readonly functionColumn?: number | undefined;
  readonly stackTrace?: string | undefined;
}

/**
 * The positions to resolve for {@link codeInSource}: its place, then the lines of its stack trace.
 */
export function positionsOfCode(code: LocatedCode): (CodePosition | undefined)[] {
  const { file, line, column = 1, functionName, functionLine, functionColumn, stackTrace } = code;
  const own =
    file === undefined || line === undefined
      ? undefined
      : { file, line, column, functionName, functionLine, functionColumn };
  return [own, ...(stackTrace === undefined ? [] : positionsOfStackTrace(stackTrace))];
}

/** @param found what was found for {@link positionsOfCode}, in its order */
export function codeInSource<Code extends LocatedCode>(
  code: Code,
  found: SourcePositionList,
): Code {
  const [own, ...lines] = found;
  return {
    ...code,
    ...own,
    ...(code.stackTrace !== undefined && {
      stackTrace: withSourcePositions(code.stackTrace, lines),
    }),
  };
}

/** Reads and decodes at once: for a thread that has nothing else to do. Never throws. */
export function codeInSourceNow<Code extends LocatedCode>(
  code: Code,
  files = new MapFiles(),
): Code {
  const find = (position: CodePosition | undefined) => position && files.find(position);
  return codeInSource(code, positionsOfCode(code).map(find));
}
