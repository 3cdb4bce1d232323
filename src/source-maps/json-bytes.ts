/**
 * Finds values in JSON text without decoding all of it. A source map of 50 MB would take hundreds
 * of MB of a heap as strings and objects, and a thread that exceeds its heap's limit can abort the
 * whole process. Bytes are outside of the heap.
 */

/** From the first byte of a value to the one after its last. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const COMMA = 0x2c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

const broken = (at: number) => new SyntaxError(`broken JSON at byte ${at}`);

function skipBlanks(bytes: Buffer, from: number): number {
  let at = from;
  while (at < bytes.length && (bytes[at] as number) <= 0x20) at++;
  return at;
}

/** @returns the byte after the string that starts at `from` */
function skipString(bytes: Buffer, from: number): number {
  let at = from + 1;
  for (;;) {
    const quote = bytes.indexOf(QUOTE, at);
    if (quote === -1) throw broken(from);
    let escapes = quote - 1;
    while (bytes[escapes] === BACKSLASH) escapes--;
    at = quote + 1;
    if ((quote - 1 - escapes) % 2 === 0) return at;
  }
}

/** @returns the byte after the value that starts at `from` */
function skipValue(bytes: Buffer, from: number): number {
  let depth = 0;
  let at = from;
  while (at < bytes.length) {
    const byte = bytes[at] as number;
    if (byte === QUOTE) at = skipString(bytes, at);
    else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      depth++;
      at++;
      continue;
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      depth--;
      at++;
      if (depth < 0) throw broken(at);
    } else if (depth > 0) at++;
    else {
      while (at < bytes.length && !isEndOfLiteral(bytes[at] as number)) at++;
      if (at === from) throw broken(at);
    }
    if (depth === 0) return at;
  }
  throw broken(from);
}

const isEndOfLiteral = (byte: number) =>
  byte <= 0x20 || byte === COMMA || byte === CLOSE_BRACE || byte === CLOSE_BRACKET;

/** Calls `visit` for each element of the array at `start`, in order. */
function eachElement(
  bytes: Buffer,
  start: number,
  visit: (start: number, end: number) => void,
): void {
  if (bytes[start] !== OPEN_BRACKET) throw broken(start);
  let at = skipBlanks(bytes, start + 1);
  while (bytes[at] !== CLOSE_BRACKET) {
    const end = skipValue(bytes, at);
    visit(at, end);
    at = skipBlanks(bytes, end);
    if (bytes[at] === COMMA) at = skipBlanks(bytes, at + 1);
    else if (bytes[at] !== CLOSE_BRACKET) throw broken(at);
  }
}

/**
 * The values of the fields of this name in the object at `start`; of a name that occurs twice, the
 * last one, as `JSON.parse` has it.
 */
export function fieldsOf<Name extends string>(
  bytes: Buffer,
  start: number,
  names: readonly Name[],
): Partial<Record<Name, Range>> {
  const found: Partial<Record<Name, Range>> = {};
  let at = skipBlanks(bytes, start);
  if (bytes[at] !== OPEN_BRACE) throw broken(at);
  at = skipBlanks(bytes, at + 1);
  while (bytes[at] !== CLOSE_BRACE) {
    if (bytes[at] !== QUOTE) throw broken(at);
    const afterName = skipString(bytes, at);
    const name = names.find(
      (wanted) =>
        wanted.length === afterName - at - 2 &&
        bytes.toString('latin1', at + 1, afterName - 1) === wanted,
    );
    at = skipBlanks(bytes, afterName);
    if (bytes[at] !== COLON) throw broken(at);
    at = skipBlanks(bytes, at + 1);
    const end = skipValue(bytes, at);
    if (name !== undefined) found[name] = { start: at, end };
    at = skipBlanks(bytes, end);
    if (bytes[at] === COMMA) at = skipBlanks(bytes, at + 1);
    else if (bytes[at] !== CLOSE_BRACE) throw broken(at);
  }
  return found;
}

/** Where the elements of an array are, without an object for each. */
export class Elements {
  readonly #bounds: Int32Array;

  constructor(
    private readonly bytes: Buffer,
    start: number,
  ) {
    let count = 0;
    eachElement(bytes, start, () => count++);
    this.#bounds = new Int32Array(2 * count);
    let at = 0;
    eachElement(bytes, start, (from, end) => {
      this.#bounds[at++] = from;
      this.#bounds[at++] = end;
    });
  }

  get length(): number {
    return this.#bounds.length / 2;
  }

  /** Memory beside the bytes themselves. */
  get byteLength(): number {
    return this.#bounds.byteLength;
  }

  rangeAt(index: number): Range | undefined {
    const start = this.#bounds[2 * index];
    const end = this.#bounds[2 * index + 1];
    return start === undefined || end === undefined ? undefined : { start, end };
  }

  /** The element, if it is a string of at most `maxBytes`. */
  stringAt(index: number, maxBytes: number): string | undefined {
    const range = this.rangeAt(index);
    return range && stringIn(this.bytes, range, maxBytes);
  }
}

export function stringIn(bytes: Buffer, range: Range, maxBytes: number): string | undefined {
  const value = valueIn(bytes, range, maxBytes);
  return typeof value === 'string' ? value : undefined;
}

/** A small value; undefined where it is larger than `maxBytes`. */
export function valueIn(bytes: Buffer, { start, end }: Range, maxBytes: number): unknown {
  if (end - start > maxBytes) return undefined;
  return JSON.parse(bytes.toString('utf8', start, end));
}
