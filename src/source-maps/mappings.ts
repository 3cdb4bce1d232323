/**
 * The `mappings` of a source map, as text. All segments of a large bundle as objects take hundreds
 * of MB, so the library decodes only the piece of the text that a position is in.
 */
import { decode, encode, type SourceMapSegment } from '@jridgewell/sourcemap-codec';

/** A segment. Lines and columns count from 0. */
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

/** What the numbers in the text are relative to: the last segment before it. */
interface Base extends Place {
  readonly source: number;
  readonly sourceLine: number;
  readonly sourceColumn: number;
  readonly name: number;
}

interface Piece extends Place {
  readonly text: Buffer;
  readonly base: Base;
}

const PIECE_BYTES = 8 * 1024;
const COMMA = 0x2c;
const SEMICOLON = 0x3b;

/**
 * The library takes whatever it is given: another character, a number that has no end or more than
 * 32 bits, an empty segment, one with more than six numbers.
 */
const BROKEN = /[^A-Za-z0-9+/,;]|[g-z0-9+/](?:[,;]|$)|[g-z0-9+/]{7}|[^,;]{43}|,(?:[,;]|$)|(?:^|;),/;

/**
 * A segment after the last one of a piece: where the next piece goes on. The library sorts the
 * segments of a line; this one is found again by its name, which is an index that no map has.
 */
const MARK = 2 ** 28;
const MARKER = encode([[[0, 0, 0, 0, MARK]]]);

export class Mappings {
  readonly #pieces: Piece[] = [];

  /** @param text as it is in the JSON string; @throws SyntaxError if it is broken */
  constructor(text: Buffer) {
    let base: Base = { line: 0, column: 0, source: 0, sourceLine: 0, sourceColumn: 0, name: 0 };
    for (let start = 0; start < text.length; ) {
      const end = endOfPiece(text, start);
      const piece = text.subarray(start, end);
      const lines = decodePiece(piece, true);
      const marker = lines.at(-1)?.find(isMarker) as SourceMapSegment;
      const first = lines.findIndex((segments) => segments.some((each) => !isMarker(each)));
      if (first !== -1) {
        const column = lines[first]?.[0]?.[0] ?? 0;
        this.#pieces.push({
          line: base.line + first,
          column: first === 0 ? base.column + column : column,
          text: piece,
          base,
        });
      }
      base = after(base, lines.length - 1, marker, text[end] === SEMICOLON);
      start = end + 1;
    }
  }

  /**
   * The last segment of the line that is not after the column; undefined if there is none, or if it
   * is code without a source. Segments of other lines say nothing about this one.
   */
  find(line: number, column: number): Segment | undefined {
    const piece = lastNotAfter(this.#pieces, line, column);
    if (piece === undefined) return undefined;
    const { base } = piece;
    const start = line === base.line ? base.column : 0;
    const segments = decodePiece(piece.text, false)[line - base.line];
    const found = segments?.findLast(([generatedColumn]) => start + generatedColumn <= column);
    if (found === undefined || found.length === 1) return undefined;
    const [generatedColumn, source, sourceLine, sourceColumn, name] = found;
    return {
      generatedColumn: start + generatedColumn,
      source: base.source + source,
      line: base.sourceLine + sourceLine,
      column: base.sourceColumn + sourceColumn,
      name: name === undefined ? -1 : base.name + name,
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

function endOfPiece(text: Buffer, start: number): number {
  let end = Math.min(text.length, start + PIECE_BYTES);
  while (end < text.length && text[end] !== COMMA && text[end] !== SEMICOLON) end++;
  return end;
}

function decodePiece(piece: Buffer, isMarked: boolean): SourceMapSegment[][] {
  // Some encoders of JSON escape a slash.
  const text = piece.toString('latin1').replaceAll('\\/', '/');
  if (!isMarked) return decode(text);
  if (BROKEN.test(text)) throw new SyntaxError('broken mappings');
  return decode(text === '' || text.endsWith(';') ? text + MARKER : `${text},${MARKER}`);
}

const isMarker = (segment: SourceMapSegment) => (segment[4] ?? 0) >= MARK / 2;

function after(base: Base, lines: number, marker: SourceMapSegment, endsLine: boolean): Base {
  const [column, source = 0, sourceLine = 0, sourceColumn = 0, name = MARK] = marker;
  return {
    line: base.line + lines + (endsLine ? 1 : 0),
    column: endsLine ? 0 : (lines === 0 ? base.column : 0) + column,
    source: base.source + source,
    sourceLine: base.sourceLine + sourceLine,
    sourceColumn: base.sourceColumn + sourceColumn,
    name: base.name + name - MARK,
  };
}
