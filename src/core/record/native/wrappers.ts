/**
 * Wrappers of built-in functions. Each publishes its call while it lasts, and ends with a
 * safepoint, at which V8 answers the interrupt of the watchdog: the wrapper and its caller are
 * still on the stack then.
 *
 * Hot: `JSON.parse` and its like are called millions of times. A call costs 1 to 25 ns more on
 * Node.js 20 and 24; inputs that are too small to take long are passed through. An `arguments`
 * object, or a rest parameter, would cost up to 80 ns until V8 has optimized the caller: the hot
 * wrappers name three arguments, and leave out what is undefined at the end. The slow ones only
 * forward `arguments`: V8 makes no object of it then.
 */
import type { AnyFunction, Switch } from '../../../support/patch.ts';
import { now } from '../../../support/time.ts';
import {
  beginCall,
  callInProgress,
  callStack,
  endCall,
  enter,
  noteWait,
  setSize,
  UNKNOWN_SIZE,
} from './call-stack.ts';

/** Makes the wrapper of a function. `name` is how it is published. */
export type Wrap = (original: AnyFunction, state: Switch, name: string) => AnyFunction;

/** Up to this many characters or bytes, a call takes some microseconds at most. */
export const SMALL = 256;
const NEVER = Number.POSITIVE_INFINITY;

/** Characters, bytes or elements of an input. */
function sizeOf(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return UNKNOWN_SIZE;
  if (ArrayBuffer.isView(value)) return value.byteLength;
  try {
    return Array.isArray(value) ? value.length : UNKNOWN_SIZE;
  } catch {
    // A revoked proxy: the error is the original's to throw.
    return UNKNOWN_SIZE;
  }
}

/**
 * Hot. For functions of at most three arguments, whose first one is the input or its size. Each of
 * the hot wrappers has a call of the original in its own code: V8 calls the built-in directly then,
 * if the wrapper is made once.
 */
export function wrapHot(longFrom: number): Wrap {
  return (original, state, name) =>
    ({
      wrapper(this: unknown, first?: unknown, second?: unknown, third?: unknown) {
        const size = typeof first === 'number' ? first : sizeOf(first);
        return size < SMALL || !state.on
          ? callHot(original, this, first, second, third)
          : callPublished(original, this, first, second, third, name, size, size >= longFrom);
      },
    }).wrapper;
}

/** Hot. `JSON.parse(text, reviver)`. */
export function wrapParse(longFrom: number): Wrap {
  return (original, state, name) =>
    ({
      wrapper(this: unknown, text?: unknown, reviver?: unknown) {
        const size = sizeOf(text);
        if (size >= SMALL && state.on)
          return callPublished(
            original,
            this,
            text,
            reviver,
            undefined,
            name,
            size,
            size >= longFrom,
          );
        return reviver === undefined
          ? original.call(this, text)
          : original.call(this, text, reviver);
      },
    }).wrapper;
}

/** Hot. `JSON.stringify(value, replacer, space)`: primitives but long texts are passed through. */
export function wrapStringify(longFrom: number, longTextFrom: number): Wrap {
  return (original, state, name) =>
    ({
      wrapper(this: unknown, value?: unknown, replacer?: unknown, space?: unknown) {
        const isText = typeof value === 'string';
        const mayTakeLong = isText
          ? value.length >= SMALL
          : typeof value === 'object' && value !== null;
        if (!mayTakeLong || !state.on) return callHot(original, this, value, replacer, space);
        const size = sizeOf(value);
        const isLong = size >= (isText ? longTextFrom : longFrom);
        return callPublished(original, this, value, replacer, space, name, size, isLong);
      },
    }).wrapper;
}

/**
 * Hot. `Buffer#toString(encoding, start, end)`: drivers of databases call it for each value, with a
 * few bytes of a chunk of 64 KiB.
 */
export function wrapToString(longFrom: number): Wrap {
  return (original, state, name) =>
    ({
      wrapper(this: unknown, encoding?: unknown, start?: unknown, end?: unknown) {
        if (typeof start === 'number' && typeof end === 'number' && end - start < SMALL)
          return original.call(this, encoding, start, end);
        const length = sizeOf(this);
        const from = typeof start === 'number' && start > 0 ? start : 0;
        const to = typeof end === 'number' && end < length ? end : length;
        const size = to - from;
        return size >= SMALL && state.on
          ? callPublished(original, this, encoding, start, end, name, size, size >= longFrom)
          : callHot(original, this, encoding, start, end);
      },
    }).wrapper;
}

function callPublished(
  original: AnyFunction,
  self: unknown,
  first: unknown,
  second: unknown,
  third: unknown,
  name: string,
  size: number,
  isLong: boolean,
) {
  const depth = beginCall(name, size);
  const long = isLong ? enter(name, size, depth) : undefined;
  try {
    return callHot(original, self, first, second, third);
  } finally {
    endCall(depth, long);
  }
}

/** Built-ins have a faster path for fewer arguments. */
function callHot(fn: AnyFunction, self: unknown, first: unknown, second: unknown, third: unknown) {
  if (second !== undefined || third !== undefined) return fn.call(self, first, second, third);
  return first === undefined ? fn.call(self) : fn.call(self, first);
}

/** Functions that take microseconds at least, whatever they are given: generic, some 20 ns. */
export function wrapSlow({
  input = NEVER,
  sizeIsResult,
  sizeIsNone,
  within,
  longFrom = NEVER,
  isLong = () => true,
}: {
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
} = {}): Wrap {
  return (original, state, name) =>
    ({
      wrapper(this: unknown, first?: unknown, second?: unknown, third?: unknown) {
        // biome-ignore lint/complexity/noArguments: a rest parameter would allocate on every call
        if (!state.on) return original.apply(this, arguments as unknown as unknown[]);
        const given = input === 0 ? first : input === 1 ? second : input === 2 ? third : undefined;
        const published = sizeIsNone === true ? UNKNOWN_SIZE : sizeOf(given);
        const amount = sizeIsNone === true && typeof given === 'number' ? given : published;
        const isKnownLong = longFrom === 0 ? isLong(first, second) : amount >= longFrom;
        // No call is in progress, nearly always: nothing is allocated then.
        const outer = within === undefined || callStack.depth === 0 ? undefined : callInProgress();
        const isWithin = outer?.name.startsWith(within as string) === true;
        const depth = isWithin ? beginCall(outer.name, outer.size) : beginCall(name, published);
        const long = isKnownLong ? enter(name, published, depth) : undefined;
        try {
          // biome-ignore lint/complexity/noArguments: as above
          const result = original.apply(this, arguments as unknown as unknown[]);
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

/** Like {@link wrapSlow} without options: 6 to 11 ns. */
export const SLOW: Wrap = (original, state, name) =>
  ({
    wrapper(this: unknown) {
      // biome-ignore lint/complexity/noArguments: a rest parameter would allocate on every call
      if (!state.on) return original.apply(this, arguments as unknown as unknown[]);
      const depth = beginCall(name, UNKNOWN_SIZE);
      try {
        // biome-ignore lint/complexity/noArguments: as above
        return original.apply(this, arguments as unknown as unknown[]);
      } finally {
        endCall(depth, undefined);
      }
    },
  }).wrapper;

/** Tells what a call of a slow function has returned, and its arguments. */
export function wrapToTell(tell: (result: unknown, args: readonly unknown[]) => void): Wrap {
  return (original, state, name) =>
    SLOW(
      function (this: unknown, ...args: unknown[]) {
        const result = original.apply(this, args);
        if (state.on) tell(result, args);
        return result;
      },
      state,
      name,
    );
}

const { construct } = Reflect;

/** Like {@link SLOW}, for what may be called with `new`. */
export const wrapConstructor: Wrap = (original, state, name) =>
  function wrapper(this: unknown) {
    // biome-ignore lint/complexity/noArguments: a rest parameter would allocate on every call
    const args = arguments as unknown as unknown[];
    const target = new.target === wrapper ? original : new.target;
    if (!state.on)
      return target === undefined ? original.apply(this, args) : construct(original, args, target);
    const depth = beginCall(name, UNKNOWN_SIZE);
    try {
      return target === undefined ? original.apply(this, args) : construct(original, args, target);
    } finally {
      endCall(depth, undefined);
    }
  };
