/** Positions in the lines of a stack trace, as V8 writes it. */
import type { CodePosition, SourcePositionList } from './position.ts';

/** The last thing in a line: `/app/dist/main.js:1:2345)`. */
const POSITION = /(?<=^|[( ])((?:file:\/\/|\/|[A-Za-z]:[\\/])[^\n]*?):(\d+):(\d+)(\)?)$/;

/** One for each line; undefined where a line has no position in a file. */
export function positionsOfStackTrace(stackTrace: string): (CodePosition | undefined)[] {
  return stackTrace.split('\n').map((line) => {
    const match = POSITION.exec(line);
    return match === null
      ? undefined
      : { file: match[1] as string, line: Number(match[2]), column: Number(match[3]) };
  });
}

/**
 * The stack trace with what {@link positionsOfStackTrace} found replaced by where that is in the
 * source.
 */
export function withSourcePositions(stackTrace: string, found: SourcePositionList): string {
  return stackTrace
    .split('\n')
    .map((line, i) => {
      const source = found[i];
      if (source === undefined) return line;
      const { file, line: number, column } = source;
      const position = [file, number, column].filter((part) => part !== undefined).join(':');
      return line.replace(POSITION, (_whole, ...groups: string[]) => position + groups[3]);
    })
    .join('\n');
}
