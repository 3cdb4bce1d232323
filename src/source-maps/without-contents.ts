/**
 * The text of a source map without the contents of its sources: two thirds of a large map, which
 * are not needed here and would not fit into the thread's heap.
 */
const KEY = '"sourcesContent"';
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

/** JSON with an empty list for each `sourcesContent`. */
export function withoutContents(json: Buffer): Buffer {
  const kept: Buffer[] = [];
  let from = 0;
  // In JSON text, these bytes are a whole string: a quote inside of one has a backslash.
  for (let at = json.indexOf(KEY); at !== -1; at = json.indexOf(KEY, from)) {
    const list = startOfList(json, at + KEY.length);
    const end = list === undefined ? at + KEY.length : endOfStrings(json, list + 1);
    kept.push(json.subarray(from, list === undefined ? end : list + 1));
    from = end;
  }
  kept.push(json.subarray(from));
  return Buffer.concat(kept);
}

/** Undefined if it is no field with a list. */
function startOfList(json: Buffer, afterKey: number): number | undefined {
  const colon = skipBlanks(json, afterKey);
  if (json[colon] !== COLON) return undefined;
  const list = skipBlanks(json, colon + 1);
  return json[list] === OPEN_BRACKET ? list : undefined;
}

function skipBlanks(json: Buffer, from: number): number {
  let at = from;
  while (at < json.length && (json[at] as number) <= 0x20) at++;
  return at;
}

/** @returns where the list of strings ends: at its bracket, or at the end of half a file */
function endOfStrings(json: Buffer, from: number): number {
  let at = from;
  while (at < json.length && json[at] !== CLOSE_BRACKET)
    at = json[at] === QUOTE ? endOfString(json, at) : at + 1;
  return at;
}

/** @returns the byte after the string that starts at `from` */
function endOfString(json: Buffer, from: number): number {
  for (let at = from + 1; ; ) {
    const quote = json.indexOf(QUOTE, at);
    if (quote === -1) return json.length;
    let escapes = 0;
    while (json[quote - 1 - escapes] === BACKSLASH) escapes++;
    at = quote + 1;
    if (escapes % 2 === 0) return at;
  }
}
