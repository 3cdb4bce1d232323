/**
 * Positions in code. No dependency on OpenTelemetry or on spans: threads use it too. Lines and
 * columns count from 1, as V8's.
 */

/** A position in the code that runs. */
export interface CodePosition {
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

/** The same position in the source. */
export interface SourcePosition {
  /** A path where the source has one, else the source's name without its bundler's prefix. */
  readonly file: string;
  /** Undefined with the column: the source is known, and not where in it. */
  readonly line: number | undefined;
  readonly column: number | undefined;
  /** The function's name in the source, where the map has it. */
  readonly functionName?: string;
}

/**
 * In the order of what was asked for; undefined where there is no source map, or nothing for this
 * position in it.
 */
export type SourcePositionList = readonly (SourcePosition | undefined)[];
