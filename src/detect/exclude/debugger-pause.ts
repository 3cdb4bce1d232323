/**
 * A pause in the debugger: the thread is stopped although the wall clock goes on. A synchronous
 * call that waits (execSync, a slow disk) has the same figures, so a block is taken for a pause
 * only while a debugger can be attached.
 */
import type { Block } from '../../block.ts';
import { isInspected } from '../../sample/inspector.ts';
import type { WaitedForCpu } from './run-delay.ts';

/** A paused thread uses hardly any CPU: the debugger's questions are answered on it. */
const MAX_CPU_SHARE = 0.1;

/**
 * Whether a block was most likely a pause in the debugger.
 * @param waited how long the thread waited for a CPU in it, where known: a paused one does not wait
 */
export function isDebuggerPause(
  { start, end, cpu }: Pick<Block, 'start' | 'end' | 'cpu'>,
  waited?: WaitedForCpu,
): boolean {
  return cpu < (end - start - (waited?.atLeast ?? 0)) * MAX_CPU_SHARE && isInspected();
}
