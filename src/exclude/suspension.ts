/**
 * Tells a process that stood still as a whole from a block: stopped (SIGSTOP), or without CPU (a container at its quota). The
 * watchdog's clock jumped as well then, and the main thread used no CPU. A thread that waits in synchronous I/O uses no CPU either,
 * but the watchdog ran on.
 */

import type { Block } from '../block.ts';
import { standstillWithin } from '../watchdog/shared-memory.ts';

/**
 * Whether what is left of a block without the standstill in it is shorter than the threshold.
 * @param waitedForCpuMillis at least how long the thread waited for a CPU in it, where that is known
 */
export function isStandstill(
  { start, end, cpu }: Pick<Block, 'start' | 'end' | 'cpu'>,
  marks: Float64Array | undefined,
  thresholdMillis: number,
  waitedForCpuMillis = 0,
): boolean {
  const length = end - start;
  const seen = marks === undefined ? 0 : standstillWithin(marks, start, end);
  const stoodStill = Math.min(Math.max(seen, waitedForCpuMillis), length - cpu);
  return length - stoodStill < thresholdMillis;
}
