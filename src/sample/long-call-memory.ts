/**
 * What is known of a native call that is known to be long, in shared memory before the call begins:
 * the main thread cannot answer the watchdog thread while it is in native code.
 */
import { Buffer } from 'node:buffer';

/** Facts of a block with a stack of 128 frames; longer ones are not written. */
const MAX_BYTES = 128 * 1024;
/** Bytes of the text; 0 while no such call runs. */
const LENGTH = 0;
/** Odd while length and text change. */
const SEQUENCE = 1;
const HEADER_BYTES = 8;

export function createLongCallMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer(HEADER_BYTES + MAX_BYTES);
}

/** The main thread's side. Calls nest: `depth` says inside how many others one began. */
export class LongCallWriter {
  readonly #header: Int32Array;
  readonly #bytes: Buffer;
  /** The calls that run, the innermost last. */
  readonly #calls: { readonly text: string; readonly depth: number }[] = [];

  constructor(memory: SharedArrayBuffer) {
    this.#header = new Int32Array(memory, 0, 2);
    this.#bytes = Buffer.from(memory, HEADER_BYTES);
  }

  enter(facts: object, depth: number): void {
    const text = JSON.stringify(facts);
    this.#dropFrom(depth);
    this.#calls.push({ text, depth });
    this.#write(text);
  }

  /** The call that began at `depth` is over, and so is all that began inside it. */
  leave(depth: number): void {
    this.#dropFrom(depth);
    const around = this.#calls.at(-1);
    this.#write(around?.text ?? '');
  }

  #dropFrom(depth: number): void {
    while ((this.#calls.at(-1)?.depth ?? -1) >= depth) this.#calls.pop();
  }

  #write(text: string): void {
    Atomics.add(this.#header, SEQUENCE, 1);
    const isWritten = Buffer.byteLength(text) <= MAX_BYTES;
    Atomics.store(this.#header, LENGTH, isWritten ? this.#bytes.write(text, 'utf8') : 0);
    Atomics.add(this.#header, SEQUENCE, 1);
  }
}

/** The watchdog thread's side: the facts of the call that runs; undefined where there is none. */
export function readLongCall<Facts extends object>(memory: SharedArrayBuffer): Facts | undefined {
  const header = new Int32Array(memory, 0, 2);
  const sequence = Atomics.load(header, SEQUENCE);
  const length = Atomics.load(header, LENGTH);
  if (sequence % 2 !== 0 || length === 0) return undefined;
  const text = Buffer.from(memory, HEADER_BYTES, length).toString('utf8');
  // Another call has begun meanwhile, or this one has ended.
  if (Atomics.load(header, SEQUENCE) !== sequence) return undefined;
  try {
    return JSON.parse(text) as Facts;
  } catch {
    return undefined;
  }
}
