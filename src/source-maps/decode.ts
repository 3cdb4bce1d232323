/**
 * A source map in memory, and how to find the one of a file. Reads nothing: it is given bytes.
 * The format: https://tc39.es/ecma426/
 */
import { attempt } from '../support/guard.ts';
import { lastNotAfter, Mappings, type Segment } from './mappings.ts';
import { MAX_SECTIONS, TooLarge, takeApart } from './take-apart.ts';

/** A longer URL is none that a file has. */
const MAX_URL_BYTES = 4096;
/**
 * What a map may have beside mappings and contents; one of 76 MB had 3 MB. A thread that exceeds
 * the limit of its heap can abort the whole process.
 */
const MAX_JSON_BYTES = 8 * 1024 * 1024;

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
  /** What it keeps in memory, about. */
  readonly byteLength: number;
}

/** What a map says, as far as it is right. `mappings` is an index. */
interface Json {
  readonly mappings?: unknown;
  readonly sources?: unknown;
  readonly names?: unknown;
  readonly sourceRoot?: unknown;
  readonly sections?: unknown;
}

/** @throws SyntaxError if the bytes are not a source map, TooLarge */
export function openSourceMap(bytes: Buffer): SourceMapReader {
  const { json, mappings } = takeApart(bytes);
  if (json.length > MAX_JSON_BYTES) throw new TooLarge();
  // A byte order mark, and the line that keeps JSON from being run as a script.
  const text = json.toString().replace(/^\ufeff?(?:\)\]\}'?.*\n)?/, '');
  const map = JSON.parse(text) as Json | null;
  return map?.sections === undefined
    ? new PlainMap(map, mappings)
    : new IndexedMap(map.sections, mappings);
}

class PlainMap implements SourceMapReader {
  readonly #mappings: Mappings;
  readonly #sources: readonly unknown[];
  readonly #names: readonly unknown[];
  readonly #sourceRoot: string;
  readonly byteLength: number;

  constructor(map: Json | null | undefined, texts: readonly Buffer[]) {
    const { mappings, sources, names, sourceRoot } = map ?? {};
    const text = typeof mappings === 'number' ? texts[mappings] : undefined;
    if (text === undefined || !Array.isArray(sources)) throw new SyntaxError('not a source map');
    // A copy: the other bytes of the file are not kept.
    this.#mappings = new Mappings(Buffer.from(text));
    this.byteLength = text.length;
    this.#sources = sources;
    this.#names = Array.isArray(names) ? names : [];
    this.#sourceRoot = typeof sourceRoot === 'string' ? sourceRoot : '';
  }

  positionOf(line: number, column: number): MappedPosition | undefined {
    const segment = this.#find(line, column);
    if (segment === undefined || segment.line < 0 || segment.column < 0) return undefined;
    const source = this.#sources[segment.source];
    if (typeof source !== 'string' || source === '') return undefined;
    return {
      source: withRoot(this.#sourceRoot, source),
      line: segment.line + 1,
      column: segment.column + 1,
    };
  }

  nameAt(line: number, column: number): string | undefined {
    const segment = this.#find(line, column);
    if (segment?.generatedColumn !== column - 1) return undefined;
    const name = this.#names[segment.name];
    return typeof name === 'string' ? name : undefined;
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

/** A map's part for the code from its offset to the next one's. A broken one has no map. */
interface Section {
  readonly line: number;
  readonly column: number;
  readonly map: SourceMapReader | undefined;
}

class IndexedMap implements SourceMapReader {
  readonly #sections: readonly Section[];
  readonly byteLength: number;

  constructor(sections: unknown, mappings: readonly Buffer[]) {
    if (!Array.isArray(sections)) throw new SyntaxError('broken sections');
    if (sections.length > MAX_SECTIONS) throw new TooLarge();
    this.#sections = sections.map((section) => openSection(section, mappings));
    this.byteLength = mappings.reduce((sum, { length }) => sum + length, 0);
    if (this.#sections.some(isBefore)) throw new SyntaxError('sections are not in order');
  }

  positionOf(line: number, column: number): MappedPosition | undefined {
    return this.#within(line, column, (map, ...place) => map.positionOf(...place));
  }

  nameAt(line: number, column: number): string | undefined {
    return this.#within(line, column, (map, ...place) => map.nameAt(...place));
  }

  #within<Found>(
    line: number,
    column: number,
    find: (map: SourceMapReader, line: number, column: number) => Found | undefined,
  ): Found | undefined {
    const section = lastNotAfter(this.#sections, line - 1, column - 1);
    if (section?.map === undefined) return undefined;
    // The column counts for the section's first line only.
    const columns = line - 1 === section.line ? section.column : 0;
    return find(section.map, line - section.line, column - columns);
  }
}

function openSection(section: unknown, mappings: readonly Buffer[]): Section {
  const { offset, map } = (section ?? {}) as { offset?: Partial<Section>; map?: Json };
  const { line, column } = offset ?? {};
  if (typeof line !== 'number' || typeof column !== 'number')
    throw new SyntaxError('broken sections');
  return { line, column, map: attempt(() => new PlainMap(map, mappings)) };
}

function isBefore(section: Section, i: number, all: readonly Section[]): boolean {
  const last = all[i - 1];
  if (last === undefined) return false;
  return section.line < last.line || (section.line === last.line && section.column < last.column);
}

const MAP_URL = 'sourceMappingURL=';
/** Text in front of a comment may resemble one: a bundler's own code, for example. */
const MAX_COMMENTS = 16;

/** From the first byte to the one after the last. */
interface Range {
  readonly start: number;
  readonly end: number;
}

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
  const url = end - start <= MAX_URL_BYTES ? code.toString('utf8', start, end) : '';
  return url === '' || /[\s"'`]/.test(url) ? undefined : { url };
}

const MAX_DATA_HEADER = 200;
/** Of text that is not base64: all of it is decoded as one string. */
const MAX_PLAIN_DATA_BYTES = 4 * 1024 * 1024;

/** The bytes of a `data:` URL; undefined if it is none that can be a map. */
export function readDataUrl(code: Buffer, { start, end }: Range): Buffer | undefined {
  const comma = code.indexOf(0x2c, start);
  if (comma === -1 || comma >= end || comma - start > MAX_DATA_HEADER) return undefined;
  const header = code.toString('latin1', start, comma);
  if (!/^data:(application|text)\/json[;,]?/i.test(`${header},`)) return undefined;
  if (!/;base64$/i.test(header)) {
    if (end - comma > MAX_PLAIN_DATA_BYTES) return undefined;
    return Buffer.from(decodeURIComponent(code.toString('utf8', comma + 1, end)));
  }
  return Buffer.from(code.toString('latin1', comma + 1, end), 'base64');
}
