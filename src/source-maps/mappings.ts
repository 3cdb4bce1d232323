/**
 * The `mappings` of a source map, as text. All segments of a large bundle as objects take hundreds
 * of MB, so the library decodes only the piece of the text that a position is in.
 */
import { decode, encode, type SourceMapSegment } from '@jridgewell/sourcemap-codec';

/** Lines and columns count from 0. */
export interface Segment {
  readonly generatedColumn: number;
  readonly source: number;
  readonly line: number;
  readonly column: number;
  /** Index of a name, or -1. */
  readonly name: number;
}

/** A position in the code that runs, from 0. */
interface Place {
  readonly line: number;
  readonly column: number;
}

interface Piece {
  readonly text: Buffer;
  /** The columns of its first line are relative to this. */
  readonly start: Place;
  /** All other numbers in it are relative to those of this segment. */
  readonly base: SourceMapSegment;
}

const PIECE_BYTES = 8 * 1024;
const COMMA = 0x2c;
const SEMICOLON = 0x3b;
/** A segment with the numbers of the one before it. */
const SAME = 'AAAAA';
/**
 * The library takes whatever it is given: another character, a number that has no end or more than
 * 32 bits, an empty segment, one with more than six numbers.
 */
const BROKEN = /[^A-Za-z0-9+/,;]|[g-z0-9+/](?:[,;]|$)|[g-z0-9+/]{7}|[^,;]{43}|,(?:[,;]|$)|(?:^|;),/;

export class Mappings {
  /** By the place of the first segment of each. */
  readonly #pieces: (Place & { readonly piece: Piece })[] = [];

  /** @param text as it is in the JSON string; @throws SyntaxError if it is broken */
  constructor(text: Buffer) {
    let start = { line: 0, column: 0 };
    let base: SourceMapSegment = [0, 0, 0, 0, 0];
    for (let from = 0; from < text.length; ) {
      let end = Math.min(text.length, from + PIECE_BYTES);
      while (end < text.length && text[end] !== COMMA && text[end] !== SEMICOLON) end++;
      const piece = { text: text.subarray(from, end), start, base };
      if (BROKEN.test(textOf(piece))) throw new SyntaxError('broken mappings');
      const { lines, last } = decodePiece(piece);
      const placeOf = (line: number, segment: SourceMapSegment | undefined) => ({
        line: piece.start.line + line,
        column: (line === 0 ? piece.start.column : 0) + (segment?.[0] ?? 0),
      });
      const first = lines.findIndex((segments) => segments.length > 0);
      if (first !== -1) this.#pieces.push({ ...placeOf(first, lines[first]?.[0]), piece });
      const lastLine = text[end] === SEMICOLON ? lines.length : lines.length - 1;
      start = placeOf(lastLine, lines[lastLine]?.at(-1));
      base = last;
      from = end + 1;
    }
  }

  /**
   * The last segment of the line that is not after the column; undefined if there is none, or if it
   * is code without a source. Segments of other lines say nothing about this one.
   */
  find(line: number, column: number): Segment | undefined {
    const { piece } = lastNotAfter(this.#pieces, line, column) ?? {};
    if (piece === undefined) return undefined;
    const start = line === piece.start.line ? piece.start.column : 0;
    const segments = decodePiece(piece).lines[line - piece.start.line];
    const found = segments?.findLast(([generatedColumn]) => start + generatedColumn <= column);
    if (found === undefined || found.length === 1) return undefined;
    const [generatedColumn, source, sourceLine, sourceColumn, name = -1] = found;
    return {
      generatedColumn: start + generatedColumn,
      source,
      line: sourceLine,
      column: sourceColumn,
      name,
    };
  }
}

/** The last of the items that begins at the position or before it; they are in order. */
export function lastNotAfter<Item extends Place>(
  items: readonly Item[],
  line: number,
  column: number,
): Item | undefined {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const item = items[middle] as Item;
    if (item.line > line || (item.line === line && item.column > column)) high = middle;
    else low = middle + 1;
  }
  return items[low - 1];
}

/** Some encoders of JSON escape a slash. */
const textOf = ({ text }: Piece) => text.toString('latin1').replaceAll('\\/', '/');

/**
 * The lines of a piece, and the numbers that the next one is relative to. Both are passed to the
 * library, and got from it, as a line of their own: the library sorts the segments of a line.
 */
function decodePiece(piece: Piece) {
  const decoded = decode(`${encode([[piece.base]])};${textOf(piece)};${SAME}`);
  return { lines: decoded.slice(1, -1), last: decoded.at(-1)?.[0] as SourceMapSegment };
}
