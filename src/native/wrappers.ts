/**
 * Wrappers of built-in functions. Each publishes its call while it lasts, and ends with a
 * safepoint, at which V8 answers the interrupt of the watchdog: the wrapper and its caller are
 * still on the stack then.
 *
 * Hot: `JSON.parse` and its like are called millions of times. Inputs that are too small to take
 * long are passed through, and the others cost some 10 ns. An
 * `arguments` object, or a rest parameter, would cost up to 80 ns until V8 has optimized the
 * caller: hot wrappers name what the documentation names, and leave out what is undefined at the
 * end.
 */
import type { AnyFunction, Switch } from '../support/patch.ts';
import { now } from '../support/time.ts';
import {
  beginCall,
  callInProgress,
  endCall,
  enter,
  noteWait,
  setSize,
  UNKNOWN_SIZE,
} from './call-stack.ts';

/** Makes the wrapper of a function. `name` is how it is published. */
export type Wrap = (original: AnyFunction, state: Switch, name: string) => AnyFunction;

/**
 * Up to this many characters or bytes, a call takes some microseconds at most, and is not
 * published.
 */
const SMALL = 256;
const NEVER = Number.POSITIVE_INFINITY;
const MIB = 1 << 20;

/** Characters, bytes or elements of an input; the value of a number. */
function sizeOf(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value === 'number') return value;
  if (typeof value !== 'object' || value === null) return UNKNOWN_SIZE;
  if (ArrayBuffer.isView(value)) return value.byteLength;
  return elementsOf(value);
}

function elementsOf(value: unknown): number {
  try {
    return Array.isArray(value) ? value.length : UNKNOWN_SIZE;
  } catch {
    // A revoked proxy: the error is the original's to throw.
    return UNKNOWN_SIZE;
  }
}

/** From this size on a call takes some 20 ms: rows of 80 characters, Node.js 20 to 26. */
const LONG_JSON_TEXT = 2 * MIB;
const LONG_JSON_ELEMENTS = 50_000;
const LONG_CLONE_ELEMENTS = 20_000;

export const wrapParse: Wrap = (original, state, name) =>
  ({
    parse(this: unknown, text: unknown, reviver?: unknown) {
      const size = typeof text === 'string' ? text.length : UNKNOWN_SIZE;
      if (reviver === undefined && (size < SMALL || !state.on)) return original.call(this, text);
      if (!state.on) return original.call(this, text, reviver);
      const depth = beginCall(name, size);
      const long = size >= LONG_JSON_TEXT ? enter(name, size, depth) : undefined;
      try {
        return reviver === undefined
          ? original.call(this, text)
          : original.call(this, text, reviver);
      } finally {
        endCall(depth, long);
      }
    },
  }).parse;

/** Nothing but the number of elements says how long it takes. */
export const wrapStringify: Wrap = (original, state, name) =>
  ({
    stringify(this: unknown, value: unknown, replacer?: unknown, space?: unknown) {
      const isPlain = replacer === undefined && space === undefined;
      if (!state.on) return original.call(this, value, replacer, space);
      const size = elementsOf(value);
      const depth = beginCall(name, size);
      const long = size >= LONG_JSON_ELEMENTS ? enter(name, size, depth) : undefined;
      try {
        return isPlain ? original.call(this, value) : original.call(this, value, replacer, space);
      } finally {
        endCall(depth, long);
      }
    },
  }).stringify;

/**
 * Like {@link wrapStringify}; closures of two literals, so that V8 compiles each for its own
 * original.
 */
export const wrapClone: Wrap = (original, state, name) =>
  ({
    structuredClone(this: unknown, value: unknown, second?: unknown) {
      // biome-ignore lint/complexity/noArguments: a rest parameter would allocate on every call
      const count = arguments.length;
      // biome-ignore lint/complexity/noArguments: as above
      if (!state.on || count === 0) return original.apply(this, arguments as unknown as unknown[]);
      const size = elementsOf(value);
      const depth = beginCall(name, size);
      const long = size >= LONG_CLONE_ELEMENTS ? enter(name, size, depth) : undefined;
      try {
        if (count === 1) return original.call(this, value);
        if (count === 2) return original.call(this, value, second);
        // biome-ignore lint/complexity/noArguments: as above
        return original.apply(this, arguments as unknown as unknown[]);
      } finally {
        endCall(depth, long);
      }
    },
  }).structuredClone;

/** From this many bytes on, decoding, hashing and encryption take some 10 to 100 ms. */
const LONG_BYTES = 16 * MIB;

/** `Buffer#toString`: the input is `this`. */
export const wrapToString: Wrap = (original, state, name) =>
  ({
    toString(
      this: { readonly length?: unknown } | undefined,
      encoding?: unknown,
      start?: unknown,
      end?: unknown,
    ) {
      const length = this?.length;
      const isWhole = start === undefined && end === undefined;
      if (!(typeof length === 'number' && length >= SMALL) || !state.on) {
        if (!isWhole) return original.call(this, encoding, start, end);
        return encoding === undefined ? original.call(this) : original.call(this, encoding);
      }
      const depth = beginCall(name, length);
      const long = length >= LONG_BYTES ? enter(name, length, depth) : undefined;
      try {
        if (!isWhole) return original.call(this, encoding, start, end);
        return encoding === undefined ? original.call(this) : original.call(this, encoding);
      } finally {
        endCall(depth, long);
      }
    },
  }).toString as AnyFunction;

/** Those whose first argument is the input, or its size: `Hmac#update`, `randomBytes`. */
export const wrapMethod: Wrap = (original, state, name) =>
  ({
    wrapper(this: unknown, data?: unknown, second?: unknown, third?: unknown) {
      const size =
        typeof data === 'string'
          ? data.length
          : typeof data === 'number'
            ? data
            : ArrayBuffer.isView(data)
              ? data.byteLength
              : UNKNOWN_SIZE;
      const isPlain = second === undefined && third === undefined;
      if (size < SMALL || !state.on) {
        return isPlain ? original.call(this, data) : original.call(this, data, second, third);
      }
      const depth = beginCall(name, size);
      const long = size >= LONG_BYTES ? enter(name, size, depth) : undefined;
      try {
        return isPlain ? original.call(this, data) : original.call(this, data, second, third);
      } finally {
        endCall(depth, long);
      }
    },
  }).wrapper;

export interface SlowCallOptions {
  /** Index of the argument that is the input, if any. */
  readonly input?: number;
  /** The size to publish is that of the result: known once it is there. */
  readonly sizeIsResult?: true;
  /** The input is a number that is no size: of iterations, of bits. */
  readonly sizeIsNone?: true;
  /**
   * Called by others of these as well: if one whose name begins so is in progress, that one is
   * what the code says.
   */
  readonly within?: string;
  /** From which size on the call is long; 0: always. Never, by default. */
  readonly longFrom?: number;
  /** Whether the first two arguments make it long, if it is not always. */
  readonly isLong?: (first: unknown, second: unknown) => boolean;
}

/** Functions that take microseconds at least, whatever they are given: generic, some 20 ns. */
export function wrapSlow({
  input = NEVER,
  sizeIsResult,
  sizeIsNone,
  within,
  longFrom = NEVER,
  isLong = () => true,
}: SlowCallOptions = {}): Wrap {
  return (original, state, name) =>
    ({
      wrapper(this: unknown) {
        // biome-ignore lint/complexity/noArguments: a rest parameter would allocate on every call
        const args = arguments as unknown as unknown[];
        if (!state.on) return original.apply(this, args);
        const size = input < args.length ? sizeOf(args[input]) : UNKNOWN_SIZE;
        const published = sizeIsNone === true ? UNKNOWN_SIZE : size;
        const isKnownLong = longFrom === 0 ? isLong(args[0], args[1]) : size >= longFrom;
        const outer = within === undefined ? undefined : callInProgress();
        const isWithin = outer?.name.startsWith(within as string) === true;
        const depth = isWithin ? beginCall(outer.name, outer.size) : beginCall(name, published);
        const long = isKnownLong ? enter(name, published, depth) : undefined;
        try {
          const result = original.apply(this, args);
          if (sizeIsResult === true && !isWithin) setSize(sizeOf(result));
          return result;
        } finally {
          endCall(depth, long);
        }
      },
    }).wrapper;
}

/**
 * `Atomics.wait`: it uses no CPU, so nothing else tells it from a wait for events. Some 70 ns:
 * the stack, which takes longer, is read after the call, and only if that was long.
 */
export const wrapWait: Wrap = (original, state, name) =>
  ({
    wait(this: unknown) {
      // biome-ignore lint/complexity/noArguments: a rest parameter would allocate on every call
      const args = arguments as unknown as unknown[];
      if (!state.on) return original.apply(this, args);
      const depth = beginCall(name, UNKNOWN_SIZE);
      const since = now();
      try {
        return original.apply(this, args);
      } finally {
        noteWait(name, since, depth);
        endCall(depth, undefined);
      }
    },
  }).wait;

const SLOW = wrapSlow();

/** Like {@link wrapSlow}, for what may be called with `new`. */
export const wrapConstructor: Wrap = (original, state, name) => {
  const call = SLOW(original, state, name);
  const construct = SLOW(Reflect.construct, state, name);
  return function wrapper(this: unknown) {
    // biome-ignore lint/complexity/noArguments: a rest parameter would allocate on every call
    const args = arguments as unknown as unknown[];
    if (new.target === undefined) return call.apply(this, args);
    return construct(original, args, new.target === wrapper ? original : new.target);
  };
};

/**
 * The getter of `format`, which is bound to its object and takes one value. Each object has one,
 * and it is wrapped once: to give it its name and length would take 5 µs, so it is written with
 * them.
 */
export const wrapFormat: Wrap = (original, state, name) => {
  const wrappers = new WeakMap<AnyFunction, AnyFunction>();
  return {
    get(this: unknown) {
      const bound: AnyFunction = original.call(this);
      if (!state.on) return bound;
      const known = wrappers.get(bound);
      if (known !== undefined) return known;
      const call = SLOW(bound, state, name);
      wrappers.set(bound, (value: unknown) => call(value));
      return wrappers.get(bound);
    },
  }.get;
};
