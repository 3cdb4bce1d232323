/**
 * The native call stack: the calls of wrapped built-ins that are in progress, the innermost on top,
 * as a stack sample reads them.
 *
 * V8 can end code half-way (`vm` with a timeout): no `finally` runs then, and a call stays in here
 * that is over. So the stack is emptied when a tick comes, and a call that ends takes off all calls
 * that began inside it, and none that began before it.
 */
import type { NativeCall, StackFrame } from '../../../block.ts';
import type { Faults } from '../../../otel/diag-once.ts';
import { attempt } from '../../../support/guard.ts';
import { now } from '../../../support/time.ts';
import { captureStack } from '../../sample/stack.ts';

/** The size of inputs whose size is not known for free. */
export const UNKNOWN_SIZE = -1;

/** Deeper calls are counted, and have no name. */
const MAX_NAMED = 32;

/** A call that is known to be long before it begins, by its input or by what it does. */
export interface LongCall extends NativeCall {
  /**
   * The callers, innermost first: line and column of the first frame are those of the call itself,
   * since they are taken when it begins.
   */
  readonly frames: readonly StackFrame[];
  /** How many calls were in progress when it began: it is inside all of them. */
  readonly depth: number;
}

/** Called synchronously, next to the call: what it throws is noted in `faults`. */
export interface LongCallListener {
  entered(call: LongCall): void;
  /** The call returned or threw. V8 has ended half-way what was entered inside it and not left. */
  left(call: LongCall): void;
  /** The call, which used no CPU, has lasted since `since`, and is over. */
  waited?(call: LongCall, since: number): void;
  /** No call is in progress: V8 has ended half-way what was entered and not left. */
  emptied?(): void;
  readonly faults: Faults;
}

/** Written by the wrappers, in place: a call makes no object. */
const names: string[] = new Array(MAX_NAMED).fill('');
const sizes = new Float64Array(MAX_NAMED);

export const callStack = {
  depth: 0,
  /** Written by {@link safepoint}: a loop that writes nothing has no check. */
  turn: 0,
  listener: undefined as LongCallListener | undefined,
};

/** Hot. A call begins. Returns how many were in progress before: {@link endCall} is given that. */
export function beginCall(name: string, size: number): number {
  const { depth } = callStack;
  if (depth < MAX_NAMED) {
    names[depth] = name;
    sizes[depth] = size;
  }
  callStack.depth = depth + 1;
  return depth;
}

/**
 * Hot. The call ends that began when `depth` others were in progress; it is to be in a `finally`.
 * Its safepoint is where V8 answers the watchdog's interrupt, with the caller still on the stack.
 */
export function endCall(depth: number, long: ReturnType<typeof enter>): void {
  try {
    safepoint();
  } finally {
    if (callStack.depth > depth) callStack.depth = depth;
    if (long !== undefined) tell(long.listener, (listener) => listener.left(long.call));
  }
}

/** The innermost call but `outside` others: its name, empty if there is none, and its size. */
export function callInProgress(outside = 0): { readonly name: string; readonly size: number } {
  const i = callStack.depth - 1 - outside;
  if (i < 0 || i >= MAX_NAMED) return { name: '', size: UNKNOWN_SIZE };
  return { name: names[i] as string, size: sizes[i] as number };
}

/** The size of the call in progress is known only now. */
export function setSize(size: number): void {
  if (callStack.depth <= MAX_NAMED) sizes[callStack.depth - 1] = size;
}

/** Call it in a tick, if `depth` is not 0: nothing is in progress then. */
export function emptyCallStack(): void {
  callStack.depth = 0;
  tell(callStack.listener, (listener) => listener.emptied?.());
}

/** What the listener throws is noted. */
function tell<Result>(
  listener: LongCallListener | undefined,
  action: (listener: LongCallListener) => Result,
): Result | undefined {
  return (
    listener &&
    attempt(
      () => action(listener),
      (error) => {
        listener.faults.inHook ??= error;
      },
    )
  );
}

/** The call of `name` is known to be long. Undefined without a listener. Cannot throw. */
export function enter(name: string, size: number, depth: number) {
  return tell(callStack.listener, (listener) => {
    const call = calledHere(name, size, depth);
    listener.entered(call);
    // The listener may be another one by the end of the call.
    return { call, listener };
  });
}

/** A shorter call is left to the samples of the watchdog thread. */
export const MIN_SAMPLED_MILLIS = 3;

/** The call of `name` began at `since`, and has waited. Cannot throw. */
export function noteWait(name: string, since: number, depth: number): void {
  if (!(now() - since >= MIN_SAMPLED_MILLIS)) return;
  tell(callStack.listener, (listener) =>
    listener.waited?.(calledHere(name, UNKNOWN_SIZE, depth), since),
  );
}

function calledHere(name: string, size: number, depth: number): LongCall {
  const stack = captureStack();
  const at = stack.findIndex(({ isOwn }) => !isOwn);
  const [caller, ...around] = at === -1 ? [] : stack.slice(at);
  return {
    name,
    size: size === UNKNOWN_SIZE ? undefined : size,
    // It has called, however near to its start.
    frames: caller === undefined ? [] : [{ ...caller, isAtEntry: false }, ...around],
    depth,
  };
}

/** How often each loop of {@link safepoint} turns. V8 can not know that from the code. */
const turns = new Int32Array([2]);

/**
 * V8 answers interrupts when a loop turns. Some 5 ns. V8 13 leaves the check out of a loop that it
 * expects to be short or that calls nothing, and of calls that it inlines, but not of the outer one
 * of two loops (observed on Node.js 20 to 26).
 */
function safepoint(): void {
  for (let i = 0; i < (turns[0] as number); i++)
    for (let j = 0; j < (turns[0] as number); j++) callStack.turn = j;
}

/**
 * Copies the call that is in progress. The result says, from the stack of the same moment, whether
 * the built-in was running: a function that it calls, a reviver for one, is not the built-in.
 */
export function takeNativeCall(): (
  frames: readonly StackFrame[],
  isLate: boolean,
) => NativeCall | undefined {
  const { name, size } = callInProgress();
  const call = { name, size: size === UNKNOWN_SIZE ? undefined : size };
  return (frames, isLate) => (name !== '' && isBuiltInOn(frames, isLate) ? call : undefined);
}

/**
 * @param frames innermost first, without those of the sample
 * @param isLate the sample arrived late, so a function that has only just been called is not what
 *   was running
 */
function isBuiltInOn(frames: readonly StackFrame[], isLate: boolean): boolean {
  const from = isLate && frames[0]?.isAtEntry === true && !frames[0].isOwn ? 1 : 0;
  for (let i = from; i < frames.length; i++) {
    const { isOwn, isAsync, isBuiltin, file } = frames[i] as StackFrame;
    if (isOwn) return true;
    const isBuiltIn = file === undefined ? isBuiltin : file.startsWith('node:');
    if (isAsync || !isBuiltIn) return false;
  }
  return false;
}
