/**
 * Positions in code, and in the lines of a stack trace. Lines and columns count from 1, as V8's.
 * Threads use it too: it imports nothing.
 */

/** A position in the code that runs, which may have been generated from other code. */
export interface GeneratedPosition {
  /** Path or `file:` URL, as V8 has it. */
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** Characters of the script before it, as V8 counts them; undefined if that is not known. */
  readonly offset?: number | undefined;
  /**
   * The function's name in the code that runs, and where the function starts (V8's enclosing
   * position): for its name in the source.
   */
  readonly functionName?: string | undefined;
  readonly functionLine?: number | undefined;
  readonly functionColumn?: number | undefined;
}

export interface SourcePosition {
  /** A path if the source has one, else the source's name without its bundler's prefix. */
  readonly file: string;
  /** Undefined together with the column if only the file is known. */
  readonly line: number | undefined;
  readonly column: number | undefined;
  /** The function's name in the source, if the map has it. */
  readonly functionName?: string;
}

/**
 * In the order of what was asked for; undefined if there is no source map, or nothing for this
 * position in it.
 */
export type SourcePositionList = readonly (SourcePosition | undefined)[];

/** The last thing in a line: `/app/dist/main.js:1:2345)`. */
const POSITION = /(?<=^|[( ])((?:file:\/\/|\/|[A-Za-z]:[\\/])[^\n]*?):(\d+):(\d+)(\)?)$/;

/** One for each line of a stack trace; undefined if the line has no position in a file. */
export function positionsOfStackTrace(stackTrace: string): (GeneratedPosition | undefined)[] {
  return stackTrace.split('\n').map((line) => {
    const [, file, number, column] = POSITION.exec(line) ?? [];
    return file === undefined ? undefined : { file, line: Number(number), column: Number(column) };
  });
}

/** The stack trace with what {@link positionsOfStackTrace} found replaced by `found`. */
export function withSourcePositions(stackTrace: string, found: SourcePositionList): string {
  const withSource = (text: string, i: number) => {
    const source = found[i];
    if (source === undefined) return text;
    const { file, line, column } = source;
    const position = line === undefined ? file : `${file}:${line}:${column}`;
    return text.replace(POSITION, (_whole, ...groups: string[]) => position + groups[3]);
  };
  return stackTrace.split('\n').map(withSource).join('\n');
}
