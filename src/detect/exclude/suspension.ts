/**
 * Distinguishes a suspended process from a block: stopped (SIGSTOP), or without CPU (other
 * processes have it, or a container is at its quota). What the code used itself, and what it waited
 * in synchronous I/O, is its own part.
 */
import type { Block } from '../../block.ts';
import type { SharedMemory } from '../../sample/shared-memory.ts';
import { maybeStoppedWithin, suspendedWithin } from '../../sample/suspensions.ts';
import type { WaitedForCpu } from './run-delay.ts';

/**
 * Whether the code's own part of a block, without the suspension in it, is shorter than the
 * threshold.
 * @param memory of the watchdog; undefined if its thread does not watch
 * @param waited how long the thread waited for a CPU in it, where known
 */
export function isSuspension(
  { start, end, cpu }: Pick<Block, 'start' | 'end' | 'cpu'>,
  memory: SharedMemory | undefined,
  thresholdMillis: number,
  waited?: WaitedForCpu,
): boolean {
  const length = end - start;
  let suspended = memory === undefined ? 0 : suspendedWithin(memory, start, end);
  if (waited !== undefined) {
    // The watchdog thread may have had no CPU while the main thread had one.
    const stopped = memory === undefined ? 0 : maybeStoppedWithin(memory, start, end);
    suspended = Math.max(suspended, waited.atLeast + stopped);
    suspended = Math.min(suspended, waited.atMost + stopped);
  }
  return length - Math.min(suspended, length - cpu) < thresholdMillis;
}
