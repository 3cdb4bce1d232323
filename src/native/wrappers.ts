/**
 * Wrappers of built-in functions. Each publishes its call while it lasts, and ends with a
 * safepoint, at which V8 answers the interrupt of the watchdog: the wrapper and its caller are
 * still on the stack then.
 *
 * Hot: `JSON.parse` and its like are called millions of times. A call costs 5 to 25 ns more on
 * Node.js 20 and 24; inputs that are too small to take long are passed through. An `arguments`
 * object, or a rest parameter, would cost up to 80 ns until V8 has optimized the caller: the hot
 * wrapper names three arguments, and leaves out what is undefined at the end.
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

/** Up to this many characters or bytes, a call takes some microseconds at most. */
export const SMALL = 256;
const NEVER = Number.POSITIVE_INFINITY;

/** Characters, bytes or elements of an input; the value of a number. */
function sizeOf(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value === 'number') return value;
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
 * Hot. For functions of at most three arguments, whose first one, or whose `this`, is the input or
 * its size.
 * @param small smaller inputs are passed through
 */
export function wrapHot(longFrom: number, small = SMALL, isThis = false): Wrap {
  return (original, state, name) =>
    ({
      wrapper(this: unknown, first?: unknown, second?: unknown, third?: unknown) {
        const size = sizeOf(isThis ? this : first);
        if (size < small || !state.on) return callHot(original, this, first, second, third);
        const depth = beginCall(name, size);
        const long = size >= longFrom ? enter(name, size, depth) : undefined;
        try {
          return callHot(original, this, first, second, third);
        } finally {
          endCall(depth, long);
        }
      },
    }).wrapper;
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

export const SLOW = wrapSlow();

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
