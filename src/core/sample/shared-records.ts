/**
 * Numbers and text that one thread writes and others read. Guarantees: a reader finds all of one
 * write and nothing of another, whenever either thread is stopped or ended half-way, and neither
 * waits for the other.
 *
 *   version │ slot of even versions │ slot of odd versions
 *
 * The writer fills the slot that the version does not point to, then publishes the next version. A
 * reader copies the slot of the version, and begins again if that has changed meanwhile. All of it
 * goes through `Atomics`, so the order is the same for all threads. `Atomics.store` takes 20 to 35
 * ns, a record of one number 50 to 95, with BigInt 40 to 70 and memory (Node.js 20, 22, 24, 26; AMD
 * EPYC): what is written in each iteration of the event loop is a single word: see SharedMemory.
 *
 * Not to be written inside a stack sample if it is written elsewhere: that comes in the middle.
 */
import { Buffer } from 'node:buffer';

const VERSION = 0;
const FIRST_SLOT = 1;
const WORDS_OF_NUMBER = 2;

const slotOf = (version: number, words: number) => FIRST_SLOT + (version & 1) * words;

/** Records of some numbers each: all of a record belong together. */
export class SharedRecords {
  /** The record that was read last; to be filled before {@link publish}. */
  readonly values: Float64Array;
  readonly #halves: Int32Array;

  constructor(
    private readonly words: Int32Array,
    numbers: number,
  ) {
    this.values = new Float64Array(numbers);
    this.#halves = new Int32Array(this.values.buffer);
  }

  static wordsOf(numbers: number, records = 1): number {
    return records * (FIRST_SLOT + 2 * WORDS_OF_NUMBER * numbers);
  }

  read(record = 0): Float64Array {
    const { words } = this;
    const halves = this.#halves;
    const at = record * SharedRecords.wordsOf(this.values.length);
    let version: number;
    do {
      version = Atomics.load(words, at + VERSION);
      const slot = at + slotOf(version, halves.length);
      for (let i = 0; i < halves.length; i++) halves[i] = Atomics.load(words, slot + i);
    } while (Atomics.load(words, at + VERSION) !== version);
    return this.values;
  }

  get(number: number): number {
    return this.read()[number] as number;
  }

  publish(record = 0): void {
    const { words } = this;
    const halves = this.#halves;
    const at = record * SharedRecords.wordsOf(this.values.length);
    const version = Atomics.load(words, at + VERSION) + 1;
    const slot = at + slotOf(version, halves.length);
    for (let i = 0; i < halves.length; i++) Atomics.store(words, slot + i, halves[i] as number);
    Atomics.store(words, at + VERSION, version);
  }

  /** The other numbers stay as this side has read or written them last. */
  set(number: number, value: number): void {
    this.values[number] = value;
    this.publish();
  }
}

/** Room for the facts of a block with a stack of 128 frames; longer ones are not written. */
const MAX_TEXT_BYTES = 128 * 1024;
const SLOT_WORDS = 1 + MAX_TEXT_BYTES / Int32Array.BYTES_PER_ELEMENT;

/** A text; empty at first. */
export class SharedText {
  static readonly BYTES = Int32Array.BYTES_PER_ELEMENT * (FIRST_SLOT + 2 * SLOT_WORDS);
  readonly #words: Int32Array;

  constructor(memory: SharedArrayBuffer, offset = 0) {
    this.#words = new Int32Array(memory, offset, FIRST_SLOT + 2 * SLOT_WORDS);
  }

  read(): string {
    const words = this.#words;
    for (;;) {
      const version = Atomics.load(words, VERSION);
      const slot = slotOf(version, SLOT_WORDS);
      const bytes = Math.min(MAX_TEXT_BYTES, Atomics.load(words, slot));
      const text = wordsFor(bytes);
      for (let i = 0; i < text.length; i++) text[i] = Atomics.load(words, slot + 1 + i);
      if (Atomics.load(words, VERSION) === version)
        return Buffer.from(text.buffer, 0, bytes).toString('utf8');
    }
  }

  /** A text that is too long is as an empty one. */
  write(text: string): void {
    const words = this.#words;
    const length = Buffer.byteLength(text);
    const bytes = length > MAX_TEXT_BYTES ? 0 : length;
    const copy = wordsFor(bytes);
    Buffer.from(copy.buffer).write(bytes === 0 ? '' : text, 'utf8');
    const version = Atomics.load(words, VERSION) + 1;
    const slot = slotOf(version, SLOT_WORDS);
    Atomics.store(words, slot, bytes);
    for (let i = 0; i < copy.length; i++) Atomics.store(words, slot + 1 + i, copy[i] as number);
    Atomics.store(words, VERSION, version);
  }

  /** The JSON that was written, parsed; undefined if the text is empty. */
  readJson(): object | undefined {
    const text = this.read();
    return text === '' ? undefined : JSON.parse(text);
  }
}

const wordsFor = (bytes: number) => new Int32Array(Math.ceil(bytes / Int32Array.BYTES_PER_ELEMENT));
