/**
 * The text of a source map in parts that the thread's heap can hold. Most of a map are its
 * mappings, which stay bytes, and the contents of its sources, which are not needed.
 */
const CONTENTS = '"sourcesContent"';
const MAPPINGS = '"mappings"';
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

/** Of an indexed map. A file may have some thousands. */
export const MAX_SECTIONS = 20_000;

export class TooLarge extends Error {}

export interface Parts {
  /** Each `sourcesContent` is an empty list, each `mappings` the index of its text. */
  readonly json: Buffer;
  /** As they are in the JSON strings, without quotes. */
  readonly mappings: readonly Buffer[];
}

/** @throws TooLarge */
export function takeApart(map: Buffer): Parts {
  const kept: Buffer[] = [];
  const mappings: Buffer[] = [];
  let from = 0;
  // In JSON text, a key is a whole string: a quote inside of one has a backslash.
  let contentsAt = map.indexOf(CONTENTS);
  let mappingsAt = map.indexOf(MAPPINGS);
  while (contentsAt !== -1 || mappingsAt !== -1) {
    if (kept.length > 4 * MAX_SECTIONS) throw new TooLarge();
    const isContents = mappingsAt === -1 || (contentsAt !== -1 && contentsAt < mappingsAt);
    const value = isContents
      ? startOfValue(map, contentsAt + CONTENTS.length)
      : startOfValue(map, mappingsAt + MAPPINGS.length);
    let end = value;
    if (isContents && map[value] === OPEN_BRACKET) {
      end = endOfStrings(map, value + 1);
      kept.push(map.subarray(from, value + 1));
      from = end;
    } else if (!isContents && map[value] === QUOTE) {
      end = endOfString(map, value);
      kept.push(map.subarray(from, value), Buffer.from(String(mappings.length)));
      mappings.push(map.subarray(value + 1, end - 1));
      from = end;
    }
    if (contentsAt !== -1 && contentsAt < end) contentsAt = map.indexOf(CONTENTS, end);
    if (mappingsAt !== -1 && mappingsAt < end) mappingsAt = map.indexOf(MAPPINGS, end);
  }
  kept.push(map.subarray(from));
  return { json: Buffer.concat(kept), mappings };
}

/** @returns where the value starts, or the byte after the string if it is no key */
function startOfValue(map: Buffer, afterKey: number): number {
  const colon = skipBlanks(map, afterKey);
  return map[colon] === COLON ? skipBlanks(map, colon + 1) : colon;
}

function skipBlanks(map: Buffer, from: number): number {
  let at = from;
  while (at < map.length && (map[at] as number) <= 0x20) at++;
  return at;
}

/** @returns where the list of strings ends: at its bracket, or at the end of half a file */
function endOfStrings(map: Buffer, from: number): number {
  let at = from;
  while (at < map.length && map[at] !== CLOSE_BRACKET)
    at = map[at] === QUOTE ? endOfString(map, at) : at + 1;
  return at;
}

/** @returns the byte after the string that starts at `from` */
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
