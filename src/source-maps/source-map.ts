/**
 * A source map in memory (https://tc39.es/ecma426/): where a position is in the source.
 *
 * Guarantees: a map of 100 MB fits into the heap of the thread. Most of a map are its mappings,
 * which stay bytes, and the contents of its sources, which are not needed; the rest is refused if
 * it is too large. A broken section of an indexed map leaves the others.
 */
import { boundedName } from '../support/bounded.ts';
import { attempt } from '../support/guard.ts';
import { lastNotAfter, Mappings, type Segment } from './mappings.ts';

/**
 * Limit of what a map has beside mappings and contents; a map of 76 MB has 3 MB. A thread that
 * exceeds the limit of its heap can abort the whole process.
 */
const MAX_JSON_BYTES = 8 * 1024 * 1024;
/** What the objects for a piece of the remaining text take, about. */
const PIECE_BYTES = 64;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;

export class TooLarge extends Error {}

/** What a map should say; nothing is sure. `mappings` is the index of their text. */
interface Json {
  readonly mappings?: unknown;
  readonly sources?: unknown;
  readonly names?: unknown;
  readonly sourceRoot?: unknown;
  readonly sections?: unknown;
}

/** A map's part for the code from this place to the next section. Places count from 0. */
interface Section {
  readonly line: number;
  readonly column: number;
  /** Undefined if it is broken. */
  readonly map: PlainMap | undefined;
}

interface PlainMap {
  readonly mappings: Mappings;
  readonly sources: readonly unknown[];
  readonly names: readonly unknown[];
  readonly sourceRoot: string;
}

export class SourceMap {
  readonly #sections: readonly Section[];
  /** Bytes of the mappings, which are most of what is kept. */
  readonly byteLength: number;

  /** @throws SyntaxError if the bytes are not a source map, TooLarge */
  constructor(bytes: Buffer) {
    const { json, mappings } = takeApart(bytes);
    // A byte order mark, and the line that keeps JSON from being run as a script.
    const text = json.toString().replace(/^\ufeff?(?:\)\]\}'?.*\n)?/, '');
    const map = JSON.parse(text) as Json | null;
    this.#sections =
      map?.sections === undefined
        ? [{ line: 0, column: 0, map: openPlainMap(map, mappings) }]
        : openSections(map.sections, mappings);
    this.byteLength = mappings.reduce((sum, { length }) => sum + length, 0);
  }

  /**
   * Lines and columns count from 1. The source is as the map has it, below its `sourceRoot`.
   * Undefined if the map says nothing about this position.
   */
  positionOf(line: number, column: number) {
    const { map, segment } = this.#find(line, column) ?? {};
    if (map === undefined || segment === undefined) return undefined;
    const source = map.sources[segment.source];
    if (typeof source !== 'string' || source === '') return undefined;
    if (segment.line < 0 || segment.column < 0) return undefined;
    return {
      source: withRoot(map.sourceRoot, source),
      line: segment.line + 1,
      column: segment.column + 1,
    };
  }

  /** The name in the source of what the token at exactly this position names. */
  nameAt(line: number, column: number): string | undefined {
    const { map, segment, firstColumn } = this.#find(line, column) ?? {};
    if (segment?.generatedColumn !== column - 1 - (firstColumn ?? 0)) return undefined;
    const name = map?.names[segment.name];
    return typeof name === 'string' ? boundedName(name) : undefined;
  }

  #find(line: number, column: number) {
    const section = lastNotAfter(this.#sections, line - 1, column - 1);
    if (section?.map === undefined) return undefined;
    const { map } = section;
    // The section's column counts in its first line only.
    const firstColumn = line - 1 === section.line ? section.column : 0;
    const segment: Segment | undefined = map.mappings.find(
      line - 1 - section.line,
      column - 1 - firstColumn,
    );
    return { map, segment, firstColumn };
  }
}

function openSections(sections: unknown, mappings: readonly Buffer[]): Section[] {
  if (!Array.isArray(sections)) throw new SyntaxError('broken sections');
  return sections.map((section: { offset?: Partial<Section>; map?: Json } | null) => {
    const { line, column } = section?.offset ?? {};
    if (typeof line !== 'number' || typeof column !== 'number')
      throw new SyntaxError('broken sections');
    return { line, column, map: attempt(() => openPlainMap(section?.map, mappings)) };
  });
}

function openPlainMap(map: Json | null | undefined, texts: readonly Buffer[]): PlainMap {
  const { mappings, sources, names, sourceRoot } = map ?? {};
  const text = typeof mappings === 'number' ? texts[mappings] : undefined;
  if (text === undefined || !Array.isArray(sources)) throw new SyntaxError('not a source map');
  return {
    // A copy: the other bytes of the file are not kept.
    mappings: new Mappings(Buffer.from(text)),
    sources,
    names: Array.isArray(names) ? names : [],
    sourceRoot: typeof sourceRoot === 'string' ? sourceRoot : '',
  };
}

/** `sourceRoot` stands before what is relative to it. */
export function withRoot(root: string, source: string): string {
  if (root === '' || source.startsWith('/') || hasScheme(source)) return source;
  return root.endsWith('/') ? root + source : `${root}/${source}`;
}

/** Two characters at least: a drive's letter is no scheme. */
export const hasScheme = (source: string) => /^[a-z][a-z0-9+.-]+:/i.test(source);

/**
 * The map without its long texts: instead of each source's contents there is `null`, instead of
 * each `mappings` the index of their text, which is as in the JSON string, without quotes.
 * @throws TooLarge
 */
function takeApart(map: Buffer): { json: Buffer; mappings: Buffer[] } {
  const mappings: Buffer[] = [];
  const kept: Buffer[] = [];
  let keptBytes = 0;
  let key = '';
  /** Index of the byte after the last text that was left out, and after the last string. */
  let from = 0;
  let end = 0;
  const keepUntil = (at: number, replacement: string) => {
    keptBytes += at - from + PIECE_BYTES;
    if (keptBytes > MAX_JSON_BYTES) throw new TooLarge();
    kept.push(map.subarray(from, at), Buffer.from(replacement));
    from = end;
  };
  for (let at = map.indexOf(QUOTE); at !== -1; at = map.indexOf(QUOTE, end)) {
    end = endOfString(map, at);
    if (isKey(map, end)) key = map.toString('latin1', at, Math.min(end, at + 20));
    else if (key === '"sourcesContent"') keepUntil(at, 'null');
    else if (key === '"mappings"') {
      keepUntil(at, String(mappings.length));
      mappings.push(map.subarray(at + 1, end - 1));
    }
  }
  keepUntil(map.length, '');
  return { json: Buffer.concat(kept), mappings };
}

/** @returns index of the byte after the string that starts at `from` */
function endOfString(map: Buffer, from: number): number {
  for (let at = from + 1; ; ) {
    const quote = map.indexOf(QUOTE, at);
    if (quote === -1) return map.length;
    let escapes = 0;
    while (map[quote - 1 - escapes] === BACKSLASH) escapes++;
    at = quote + 1;
    if (escapes % 2 === 0) return at;
  }
}

/** Whether a colon follows the string that ends here. */
function isKey(map: Buffer, end: number): boolean {
  let at = end;
  while (at < map.length && (map[at] as number) <= 0x20) at++;
  return map[at] === COLON;
}
