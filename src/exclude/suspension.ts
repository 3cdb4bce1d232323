/**
 * Distinguishes a suspended process from a block: stopped (SIGSTOP), or without CPU (a container at
 * its quota). Then the watchdog thread was suspended too, and the main thread used no CPU. A thread
 * that waits in synchronous I/O uses no CPU either, but the watchdog thread ran on.
 */
import type { Block } from '../block.ts';
import { suspendedWithin } from '../watchdog/suspension-marks.ts';

/**
 * Whether what is left of a block without the suspension in it is shorter than the threshold.
 * @param marks of the watchdog; undefined where its thread does not watch
 * @param waitedForCpuMillis at least how long the thread waited for a CPU in it, where known
 */
export function isSuspension(
  { start, end, cpu }: Pick<Block, 'start' | 'end' | 'cpu'>,
  marks: Float64Array | undefined,
  thresholdMillis: number,
  waitedForCpuMillis = 0,
): boolean {
  const length = end - start;
  const noted = marks === undefined ? 0 : suspendedWithin(marks, start, end);
  const suspended = Math.min(Math.max(noted, waitedForCpuMillis), length - cpu);
  return length - suspended < thresholdMillis;
}
