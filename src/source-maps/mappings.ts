/**
 * The `mappings` of a source map. `SourceMap` of `node:module` makes an array of each of its
 * segments; this one keeps the text and, for every so many bytes of it, what a decoder has to know
 * to go on from there.
 */

/** A segment. Lines and columns count from 0. */
export interface Segment {
  readonly generatedColumn: number;
  readonly source: number;
  readonly line: number;
  readonly column: number;
  /** Index of a name, or -1. */
  readonly name: number;
}

const COMMA = 0x2c;
const SEMICOLON = 0x3b;
const BACKSLASH = 0x5c;
const SLASH = 0x2f;

/** Between two states that are kept. A search decodes twice as much at most. */
const BYTES_BETWEEN = 512;

const INVALID = 0xff;
const DIGITS = (() => {
  const digits = new Uint8Array(256).fill(INVALID);
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
  for (let i = 0; i < alphabet.length; i++) digits[alphabet.charCodeAt(i)] = i;
  return digits;
})();

/** Fields of a state: where to go on, and the last segment before that. */
const AT = 0;
const GENERATED_LINE = 1;
const GENERATED_COLUMN = 2;
const SOURCE = 3;
const LINE = 4;
const COLUMN = 5;
const NAME = 6;
/** How many fields the last segment has: 0 where there is none. */
const FIELDS = 7;
const SIZE = 8;

export class Mappings {
  #states = new Int32Array(64 * SIZE);
  #count = 0;
  /** Columns of a line that do not ascend: allowed, but not common. */
  #isSorted = true;
  readonly #state = new Int32Array(SIZE);

  /**
   * @param text from `start` to `end`: the mappings, as they are in the JSON string, without its
   * quotes
   */
  constructor(
    private readonly text: Uint8Array,
    private readonly start: number,
    private readonly end: number,
  ) {
    this.#restart();
    const state = this.#state;
    let keepAt = this.start + BYTES_BETWEEN;
    let line = 0;
    let column = 0;
    while (this.#next()) {
      if (state[GENERATED_LINE] !== line) line = state[GENERATED_LINE] as number;
      else if ((state[GENERATED_COLUMN] as number) < column) this.#isSorted = false;
      column = state[GENERATED_COLUMN] as number;
      if ((state[AT] as number) >= keepAt) {
        this.#keep();
        keepAt = (state[AT] as number) + BYTES_BETWEEN;
      }
    }
    this.#states = this.#states.slice(0, this.#count * SIZE);
  }

  /** Memory beside the text. */
  get byteLength(): number {
    return this.#states.byteLength;
  }

  /**
   * The last segment of the line that is not after the column; undefined where there is none, or
   * where it is code without a source. Segments of other lines say nothing about this one.
   */
  find(line: number, column: number): Segment | undefined {
    const state = this.#state;
    this.#restart();
    if (this.#isSorted) this.#goTo(line, column);
    let found: Segment | undefined;
    let foundColumn = -1;
    do {
      const generatedLine = state[GENERATED_LINE] as number;
      const generatedColumn = state[GENERATED_COLUMN] as number;
      if (generatedLine > line) break;
      if (generatedLine < line || state[FIELDS] === 0) continue;
      if (generatedColumn > column) {
        if (this.#isSorted) break;
        continue;
      }
      if (generatedColumn < foundColumn) continue;
      foundColumn = generatedColumn;
      const fields = state[FIELDS] as number;
      found =
        fields < 4
          ? undefined
          : {
              generatedColumn,
              source: state[SOURCE] as number,
              line: state[LINE] as number,
              column: state[COLUMN] as number,
              name: fields >= 5 ? (state[NAME] as number) : -1,
            };
    } while (this.#next());
    return found;
  }

  #restart(): void {
    this.#state.fill(0);
    this.#state[AT] = this.start;
  }

  /** To the last state that is kept and not after the position. */
  #goTo(line: number, column: number): void {
    const states = this.#states;
    let low = 0;
    let high = this.#count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const at = middle * SIZE;
      const itsLine = states[at + GENERATED_LINE] as number;
      const isAfter =
        itsLine > line || (itsLine === line && (states[at + GENERATED_COLUMN] as number) > column);
      if (isAfter) high = middle;
      else low = middle + 1;
    }
    if (low > 0) this.#state.set(states.subarray((low - 1) * SIZE, low * SIZE));
  }

  #keep(): void {
    const at = this.#count++ * SIZE;
    if (at === this.#states.length) {
      const larger = new Int32Array(2 * at);
      larger.set(this.#states);
      this.#states = larger;
    }
    this.#states.set(this.#state, at);
  }

  /** Decodes the next segment; false at the end. */
  #next(): boolean {
    const { text, end } = this;
    const state = this.#state;
    let at = state[AT] as number;
    for (; at < end; at++) {
      const byte = text[at];
      if (byte === SEMICOLON) {
        state[GENERATED_LINE] = (state[GENERATED_LINE] as number) + 1;
        state[GENERATED_COLUMN] = 0;
      } else if (byte !== COMMA) break;
    }
    if (at >= end) {
      state[AT] = at;
      state[FIELDS] = 0;
      return false;
    }
    let fields = 0;
    let value = 0;
    let shift = 0;
    for (; at < end; at++) {
      const byte = text[at] as number;
      if (byte === COMMA || byte === SEMICOLON) break;
      // Some encoders of JSON escape a slash.
      if (byte === BACKSLASH && text[at + 1] === SLASH) continue;
      const digit = DIGITS[byte] as number;
      if (digit === INVALID || shift > 30) throw new SyntaxError(`broken mappings at byte ${at}`);
      value |= (digit & 31) << shift;
      if ((digit & 32) !== 0) shift += 5;
      else {
        // The lowest bit is the sign.
        const delta = (value & 1) === 0 ? value >>> 1 : -(value >>> 1);
        const field = GENERATED_COLUMN + fields;
        if (field <= NAME) state[field] = (state[field] as number) + delta;
        fields++;
        value = 0;
        shift = 0;
      }
    }
    if (shift !== 0) throw new SyntaxError(`broken mappings at byte ${at}`);
    state[AT] = at;
    state[FIELDS] = fields;
    return true;
  }
}
