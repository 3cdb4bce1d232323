/**
 * What is known of a native call that is known to be long, in shared memory before the call begins:
 * the main thread cannot answer the watchdog thread while it is in native code.
 */
import { Buffer } from 'node:buffer';

/** Facts of a block with a stack of 128 frames; longer ones are not written. */
const MAX_BYTES = 128 * 1024;
const LENGTH = 0;
const HEADER_BYTES = 4;

export function createLongCallMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer(HEADER_BYTES + MAX_BYTES);
}

/** The main thread's side. Calls nest: `depth` says inside how many others one began. */
export class LongCallWriter {
  readonly #length: Int32Array;
  readonly #bytes: Buffer;
  /** The calls that run, the innermost last. */
  readonly #calls: { readonly text: string; readonly depth: number }[] = [];

  constructor(memory: SharedArrayBuffer) {
    this.#length = new Int32Array(memory, 0, 1);
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
    if (around === undefined) Atomics.store(this.#length, LENGTH, 0);
    else this.#write(around.text);
  }

  #dropFrom(depth: number): void {
    while ((this.#calls.at(-1)?.depth ?? -1) >= depth) this.#calls.pop();
  }

  /** The length is stored last, and is 0 while the text changes: a reader never gets half of it. */
  #write(text: string): void {
    Atomics.store(this.#length, LENGTH, 0);
    if (Buffer.byteLength(text) > MAX_BYTES) return;
    const written = this.#bytes.write(text, 'utf8');
    Atomics.store(this.#length, LENGTH, written);
  }
}

/** The watchdog thread's side: the facts of the call that runs; undefined where there is none. */
export function readLongCall<Facts extends object>(memory: SharedArrayBuffer): Facts | undefined {
  const length = new Int32Array(memory, 0, 1);
  const before = Atomics.load(length, LENGTH);
  if (before === 0) return undefined;
  const text = Buffer.from(memory, HEADER_BYTES, before).toString('utf8');
  // Another call has begun meanwhile, or this one has ended.
  if (Atomics.load(length, LENGTH) !== before) return undefined;
  try {
    return JSON.parse(text) as Facts;
  } catch {
    return undefined;
  }
}
