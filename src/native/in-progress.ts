/**
 * The native call stack: the innermost call of a wrapped built-in that is in progress, as a stack
 * sample reads it, and how many are. Fields of one object, so that a call publishes itself without
 * an allocation. Nested calls put back what was there before.
 *
 * V8 can end code half-way (`vm` with a timeout): no `finally` runs then, and a call stays in here
 * that is over. So the stack is emptied when a callback begins, and a call that ends takes off all
 * calls that began inside it, and none that began before it.
 */
import type { NativeCall, StackFrame } from '../block.ts';
import type { LongCallListener } from './long-calls.ts';

/** Of inputs whose size is not known for free. */
export const UNKNOWN_SIZE = -1;

/** `name` is empty while no call is in progress. Written by the wrappers. */
export const inProgress = {
  name: '',
  size: UNKNOWN_SIZE,
  depth: 0,
  /** Is told of the calls that are known to be long. */
  listener: undefined as LongCallListener | undefined,
};

/**
 * Hot. The call ends that began when `depth` others were in progress, the innermost of them this
 * one.
 */
export function endCall(depth: number, name: string, size: number): void {
  if (inProgress.depth <= depth) return;
  inProgress.name = name;
  inProgress.size = size;
  inProgress.depth = depth;
}

/** A callback begins: nothing is in progress. To be called if `depth` is not 0. */
export function emptyNativeCalls(): void {
  inProgress.name = '';
  inProgress.size = UNKNOWN_SIZE;
  inProgress.depth = 0;
  const { listener } = inProgress;
  try {
    listener?.emptied?.();
  } catch (error) {
    if (listener !== undefined) listener.faults.inHook ??= error;
  }
}

function next(turn: number): number {
  return turn + 1;
}

/** V8 answers interrupts when a function is called or a loop turns. Some 2 ns. */
export function safepoint(): number {
  let turn = 0;
  while (turn < 2) turn = next(turn);
  return turn;
}

/**
 * Copies the call that is in progress. The result says, from the stack of the same moment, whether
 * the built-in was running: a function that it calls, a reviver for one, is not the built-in.
 */
export function takeNativeCall(): (
  frames: readonly StackFrame[],
  late: boolean,
) => NativeCall | undefined {
  const { name, size } = inProgress;
  const call = { name, size: size === UNKNOWN_SIZE ? undefined : size };
  return (frames, late) => (name !== '' && isBuiltInOn(frames, late) ? call : undefined);
}

/**
 * @param frames innermost first, without those of the capture
 * @param late the sample arrived late, so a function that has only just been called is not what was
 *   running
 */
function isBuiltInOn(frames: readonly StackFrame[], late: boolean): boolean {
  const from = late && frames[0]?.isAtEntry === true && !frames[0].isOwn ? 1 : 0;
  for (let i = from; i < frames.length; i++) {
    const { isOwn, isAsync, isBuiltin, file } = frames[i] as StackFrame;
    if (isOwn) return true;
    const isBuiltIn = file === undefined ? isBuiltin : file.startsWith('node:');
    if (isAsync || !isBuiltIn) return false;
  }
  return false;
}
