/** Whether a stack shows code that is neither of Node.js nor of this package. */
import type { StackFrame } from '../block.ts';
import { pathAt } from './stack-path.ts';

/** Frames that only await what runs do not count: they are not running. */
export function hasUserCode(frames: readonly StackFrame[]): boolean {
  return userCode(frames).some(({ frame }) => !frame.isAsync);
}

/** Whether a block can be named by it: frames that await what runs count. */
export function hasNamedCode(frames: readonly StackFrame[]): boolean {
  return userCode(frames).length > 0;
}

const userCode = (frames: readonly StackFrame[]) => pathAt(frames, () => 'dependency').steps;
