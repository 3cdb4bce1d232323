/**
 * Stacks as a profile of `pprof`, which speedscope opens as well. Uncompressed; the fields are
 * those of https://github.com/google/pprof/blob/main/proto/profile.proto
 */
import { Buffer } from 'node:buffer';
import type { SampledFrame, SampledStack } from './sampled-stacks.ts';

const VARINT = 0;
const BYTES = 2;
const NANOS_PER_MILLI = 1e6;

/** Of the message `Profile`. */
const PROFILE = {
  sampleType: 1,
  sample: 2,
  location: 4,
  function: 5,
  string: 6,
  time: 9,
  duration: 10,
};

/** A message, as it is put together. */
class Message {
  readonly #bytes: number[] = [];

  varint(value: number): this {
    let rest = BigInt(Math.max(0, Math.round(value)));
    while (rest > 0x7fn) {
      this.#bytes.push(Number(rest & 0x7fn) | 0x80);
      rest >>= 7n;
    }
    this.#bytes.push(Number(rest));
    return this;
  }

  number(field: number, value: number): this {
    return this.varint(field * 8 + VARINT).varint(value);
  }

  bytes(field: number, bytes: ArrayLike<number>): this {
    this.varint(field * 8 + BYTES).varint(bytes.length);
    for (let i = 0; i < bytes.length; i++) this.#bytes.push(bytes[i] as number);
    return this;
  }

  message(field: number, message: Message): this {
    return this.bytes(field, message.#bytes);
  }

  packed(field: number, values: readonly number[]): this {
    const inner = new Message();
    for (const value of values) inner.varint(value);
    return this.message(field, inner);
  }

  toBuffer(): Buffer {
    return Buffer.from(this.#bytes);
  }
}

/** Numbers for what recurs, in order of its first use. */
class Numbers {
  readonly #numbers = new Map<string, number>();

  constructor(private readonly first: number) {}

  /** `isNew` where it has no number yet. */
  of(key: string): { readonly number: number; readonly isNew: boolean } {
    const known = this.#numbers.get(key);
    if (known !== undefined) return { number: known, isNew: false };
    const number = this.first + this.#numbers.size;
    this.#numbers.set(key, number);
    return { number, isNew: true };
  }
}

/** @param startMillis Unix time at which the block began */
export function pprofOf(
  stacks: readonly SampledStack[],
  startMillis: number,
  durationMillis: number,
): Buffer {
  const profile = new Message();
  const strings = new Numbers(0);
  const functions = new Numbers(1);
  const locations = new Numbers(1);
  const text = (value: string): number => {
    const { number, isNew } = strings.of(value);
    if (isNew) profile.bytes(PROFILE.string, Buffer.from(value));
    return number;
  };
  const functionOf = ({ name, file, functionLine }: SampledFrame): number => {
    const { number, isNew } = functions.of(`${name}\n${file}\n${functionLine}`);
    if (isNew) {
      const [nameText, fileText] = [text(name), text(file)];
      const made = new Message().number(1, number).number(2, nameText).number(3, nameText);
      profile.message(PROFILE.function, made.number(4, fileText).number(5, functionLine));
    }
    return number;
  };
  const locationOf = (frame: SampledFrame): number => {
    const id = functionOf(frame);
    const { number, isNew } = locations.of(`${id}:${frame.line}`);
    if (isNew) {
      const line = new Message().number(1, id).number(2, frame.line);
      profile.message(PROFILE.location, new Message().number(1, number).message(4, line));
    }
    return number;
  };
  // The first string is the empty one.
  text('');
  for (const [type, unit] of [
    ['samples', 'count'],
    ['wall', 'nanoseconds'],
  ] as const) {
    const [typeText, unitText] = [text(type), text(unit)];
    profile.message(PROFILE.sampleType, new Message().number(1, typeText).number(2, unitText));
  }
  for (const { frames, millis } of stacks) {
    const ids = frames.map(locationOf);
    const values = [1, millis * NANOS_PER_MILLI];
    profile.message(PROFILE.sample, new Message().packed(1, ids).packed(2, values));
  }
  profile.number(PROFILE.time, startMillis * NANOS_PER_MILLI);
  profile.number(PROFILE.duration, durationMillis * NANOS_PER_MILLI);
  return profile.toBuffer();
}
