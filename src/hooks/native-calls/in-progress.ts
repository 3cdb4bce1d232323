/**
 * The call of a wrapped built-in that is in progress, as a stack sample reads it: two fields of one
 * object, so that a call publishes itself without an allocation. Nested calls put back what was
 * there before.
 */
import type { NativeCall, StackFrame } from '../../block.ts';

/** Of inputs whose size is not known for free. */
export const UNKNOWN_SIZE = -1;

/** `name` is empty while no call is in progress. Written by the wrappers only. */
export const inProgress = { name: '', size: UNKNOWN_SIZE };

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
 * The built-in that was running when this stack sample was taken, or undefined where other code
 * was: a function that the built-in calls, a reviver for one, is not the built-in. To be called
 * within the capture.
 * @param frames innermost first, without those of the capture
 * @param late the sample arrived late, so a function that has only just been called is not what was
 *   running
 */
export function nativeCallIn(frames: readonly StackFrame[], late: boolean): NativeCall | undefined {
  if (inProgress.name === '') return undefined;
  const from = late && frames[0]?.isAtEntry === true && !frames[0].isOwn ? 1 : 0;
  for (let i = from; i < frames.length; i++) {
    const { isOwn, isAsync, isBuiltin, file } = frames[i] as StackFrame;
    if (isOwn) {
      const { name, size } = inProgress;
      return { name, size: size === UNKNOWN_SIZE ? undefined : size };
    }
    const isBuiltIn = file === undefined ? isBuiltin : file.startsWith('node:');
    if (isAsync || !isBuiltIn) return undefined;
  }
  return undefined;
}
