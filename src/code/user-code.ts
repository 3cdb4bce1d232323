/** Whether a stack shows code that is neither of Node.js nor of this package. */
import type { StackFrame } from '../block.ts';
import { pathAt } from './stack-path.ts';

/** Frames that only await what runs do not count: they are not running. */
export function hasUserCode(frames: readonly StackFrame[]): boolean {
  return pathAt(frames, () => 'dependency').steps.some(({ frame }) => !frame.isAsync);
}
