/**
 * A source map in memory, and how to find the one of a file. Reads nothing: it is given bytes.
 * The format: https://tc39.es/ecma426/
 */
import { Elements, fieldsOf, type Range, stringIn, valueIn } from './json-bytes.ts';
import { Mappings, type Segment } from './mappings.ts';

/** A longer path or name is none that a person could use. */
const MAX_SOURCE_BYTES = 4096;
const MAX_NAME_BYTES = 512;
const MAX_OFFSET_BYTES = 200;
/** Sections of an indexed map that are kept decoded. */
const MAX_OPEN_SECTIONS = 64;

/** Where a position is in the source; lines and columns from 1. */
export interface MappedPosition {
  /** As the map has it, below its `sourceRoot`. */
  readonly source: string;
  readonly line: number;
  readonly column: number;
}

/** Lines and columns of what it is asked for count from 1. */
export interface SourceMapReader {
  positionOf(line: number, column: number): MappedPosition | undefined;
  /** The name in the source of what the token at exactly this position names. */
  nameAt(line: number, column: number): string | undefined;
  /** What it keeps in memory. */
  readonly byteLength: number;
}

/** @throws where the bytes are not a source map */
export function openSourceMap(bytes: Buffer): SourceMapReader {
  const start = startOfJson(bytes);
  const { sections } = fieldsOf(bytes, start, ['sections']);
  return sections === undefined
    ? new PlainMap(bytes, start)
    : new IndexedMap(bytes, sections.start);
}

/** After a byte order mark, and the line `)]}'` that keeps JSON from being run as a script. */
function startOfJson(bytes: Buffer): number {
  const start = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  if (bytes.toString('latin1', start, start + 3) !== ')]}') return start;
  const endOfLine = bytes.indexOf(0x0a, start);
  return endOfLine === -1 ? bytes.length : endOfLine + 1;
}

class PlainMap implements SourceMapReader {
  readonly byteLength: number;
  readonly #mappings: Mappings;
  readonly #sources: Elements;
  readonly #names: Elements | undefined;
  readonly #sourceRoot: string;

  constructor(
    bytes: Buffer,
    start: number,
    /** Of a section, whose bytes are those of the whole map: they are kept in any case. */
    isSection = false,
  ) {
    const fields = fieldsOf(bytes, start, [
      'version',
      'mappings',
      'sources',
      'names',
      'sourceRoot',
    ]);
    const { mappings, sources, names, sourceRoot } = fields;
    if (mappings === undefined || sources === undefined) throw new SyntaxError('not a source map');
    // Most of a map are the sources' contents, which are not needed here.
    const part = ({ start, end }: Range): Buffer =>
      isSection ? bytes.subarray(start, end) : Buffer.from(bytes.subarray(start, end));
    const text = part(mappings);
    if (text[0] !== 0x22) throw new SyntaxError('not a source map');
    this.#mappings = new Mappings(text, 1, text.length - 1);
    const sourcesPart = part(sources);
    this.#sources = new Elements(sourcesPart, 0);
    const namesPart = names && part(names);
    this.#names = namesPart && new Elements(namesPart, 0);
    this.#sourceRoot = (sourceRoot && stringIn(bytes, sourceRoot, MAX_SOURCE_BYTES)) ?? '';
    const ownBytes = isSection ? 0 : text.length + sourcesPart.length + (namesPart?.length ?? 0);
    this.byteLength =
      ownBytes +
      this.#mappings.byteLength +
      this.#sources.byteLength +
      (this.#names?.byteLength ?? 0);
  }

  positionOf(line: number, column: number): MappedPosition | undefined {
    const segment = this.#find(line, column);
    if (segment === undefined || segment.line < 0 || segment.column < 0) return undefined;
    const source = this.#sources.stringAt(segment.source, MAX_SOURCE_BYTES);
    if (source === undefined || source === '') return undefined;
    return {
      source: withRoot(this.#sourceRoot, source),
      line: segment.line + 1,
      column: segment.column + 1,
    };
  }

  nameAt(line: number, column: number): string | undefined {
    const segment = this.#find(line, column);
    if (segment === undefined || segment.name < 0 || segment.generatedColumn !== column - 1)
      return undefined;
    return this.#names?.stringAt(segment.name, MAX_NAME_BYTES);
  }

  #find(line: number, column: number): Segment | undefined {
    return line < 1 || column < 1 ? undefined : this.#mappings.find(line - 1, column - 1);
  }
}

/** `sourceRoot` stands before what is relative to it. */
function withRoot(root: string, source: string): string {
  if (root === '' || source.startsWith('/') || hasScheme(source)) return source;
  return root.endsWith('/') ? root + source : `${root}/${source}`;
}

/** Two characters at least: a drive's letter is no scheme. */
export const hasScheme = (source: string) => /^[a-z][a-z0-9+.-]+:/i.test(source);

/**
 * A map of maps, each for the code from its offset to the next one's. A section is decoded when a
 * position in it is asked for.
 */
class IndexedMap implements SourceMapReader {
  readonly #sections: Elements;
  readonly #offsets: Float64Array;
  readonly #open = new Map<number, SourceMapReader | undefined>();

  constructor(
    private readonly bytes: Buffer,
    start: number,
  ) {
    const sections = new Elements(bytes, start);
    this.#sections = sections;
    this.#offsets = new Float64Array(2 * sections.length);
    let previousLine = 0;
    let previousColumn = 0;
    for (let i = 0; i < sections.length; i++) {
      const { offset } = fieldsOf(bytes, (sections.rangeAt(i) as Range).start, ['offset']);
      const value = offset && valueIn(bytes, offset, MAX_OFFSET_BYTES);
      const { line, column } = (value ?? {}) as { line?: unknown; column?: unknown };
      if (typeof line !== 'number' || typeof column !== 'number')
        throw new SyntaxError('broken sections');
      if (line < previousLine || (line === previousLine && column < previousColumn)) {
        throw new SyntaxError('sections are not in order');
      }
      this.#offsets[2 * i] = previousLine = line;
      this.#offsets[2 * i + 1] = previousColumn = column;
    }
  }

  get byteLength(): number {
    let bytes = this.bytes.length + this.#offsets.byteLength + this.#sections.byteLength;
    for (const section of this.#open.values()) bytes += section?.byteLength ?? 0;
    return bytes;
  }

  positionOf(line: number, column: number): MappedPosition | undefined {
    return this.#within(line, column, (map, itsLine, itsColumn) =>
      map.positionOf(itsLine, itsColumn),
    );
  }

  nameAt(line: number, column: number): string | undefined {
    return this.#within(line, column, (map, itsLine, itsColumn) => map.nameAt(itsLine, itsColumn));
  }

  #within<Found>(
    line: number,
    column: number,
    find: (map: SourceMapReader, line: number, column: number) => Found | undefined,
  ): Found | undefined {
    let low = 0;
    let high = this.#sections.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const itsLine = this.#offsets[2 * middle] as number;
      const isAfter =
        itsLine > line - 1 ||
        (itsLine === line - 1 && (this.#offsets[2 * middle + 1] as number) > column - 1);
      if (isAfter) high = middle;
      else low = middle + 1;
    }
    const index = low - 1;
    const map = this.#section(index);
    if (map === undefined) return undefined;
    const offsetLine = this.#offsets[2 * index] as number;
    // The column counts for the section's first line only.
    const offsetColumn = line - 1 === offsetLine ? (this.#offsets[2 * index + 1] as number) : 0;
    return find(map, line - offsetLine, column - offsetColumn);
  }

  #section(index: number): SourceMapReader | undefined {
    const known = this.#open.get(index);
    if (known !== undefined || this.#open.has(index)) return known;
    const range = this.#sections.rangeAt(index);
    if (range === undefined) return undefined;
    let map: SourceMapReader | undefined;
    try {
      const field = fieldsOf(this.bytes, range.start, ['map']).map;
      map = field && new PlainMap(this.bytes, field.start, true);
    } catch {
      // One broken section leaves the others.
    }
    if (this.#open.size >= MAX_OPEN_SECTIONS) this.#open.clear();
    this.#open.set(index, map);
    return map;
  }
}

const MAP_URL = 'sourceMappingURL=';
/** Text in front of a comment may resemble one: a bundler's own code, for example. */
const MAX_COMMENTS = 16;

/** Where the generated code says its map is. */
export type MapReference = { readonly url: string } | { readonly inline: Range };

/** The last comment `//# sourceMappingURL=…` of the code. */
export function findMapReference(code: Buffer): MapReference | undefined {
  let from = code.length;
  for (let i = 0; i < MAX_COMMENTS && from > 0; i++) {
    const at = code.lastIndexOf(MAP_URL, from - 1, 'latin1');
    if (at === -1) return undefined;
    from = at;
    const reference = referenceAt(code, at);
    if (reference !== undefined) return reference;
  }
  return undefined;
}

function referenceAt(code: Buffer, at: number): MapReference | undefined {
  const opening = code.toString('latin1', Math.max(0, at - 4), at);
  const isBlockComment = /\/\*[#@]\s$/.test(opening);
  if (!isBlockComment && !/\/\/[#@]\s$/.test(opening)) return undefined;
  const start = at + MAP_URL.length;
  const newline = code.indexOf(0x0a, start);
  let end = isBlockComment ? code.indexOf('*/', start, 'latin1') : newline;
  if (end === -1) end = code.length;
  while (end > start && (code[end - 1] as number) <= 0x20) end--;
  if (code.toString('latin1', start, start + 5) === 'data:') return { inline: { start, end } };
  const url = end - start <= MAX_SOURCE_BYTES ? code.toString('utf8', start, end) : '';
  return url === '' || /[\s"'`]/.test(url) ? undefined : { url };
}

const MAX_DATA_HEADER = 200;
/** Of text that is not base64: all of it is decoded as one string. */
const MAX_PLAIN_DATA_BYTES = 4 * 1024 * 1024;
/** A multiple of 4: base64 can be cut there. */
const BASE64_CHUNK = 256 * 1024;

/** The bytes of a `data:` URL; undefined where it is none that can be a map. */
export function readDataUrl(code: Buffer, { start, end }: Range): Buffer | undefined {
  const comma = code.indexOf(0x2c, start);
  if (comma === -1 || comma >= end || comma - start > MAX_DATA_HEADER) return undefined;
  const header = code.toString('latin1', start, comma);
  if (!/^data:(application|text)\/json[;,]?/i.test(`${header},`)) return undefined;
  if (!/;base64$/i.test(header)) {
    if (end - comma > MAX_PLAIN_DATA_BYTES) return undefined;
    return Buffer.from(decodeURIComponent(code.toString('utf8', comma + 1, end)));
  }
  const bytes = Buffer.allocUnsafe(Math.ceil(((end - comma) * 3) / 4));
  let length = 0;
  for (let at = comma + 1; at < end; at += BASE64_CHUNK) {
    length += bytes.write(
      code.toString('latin1', at, Math.min(end, at + BASE64_CHUNK)),
      length,
      'base64',
    );
  }
  return bytes.subarray(0, length);
}
