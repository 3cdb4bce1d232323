/**
 * Tells a process that stood still as a whole from a block: stopped (SIGSTOP), or without CPU (a container at its quota). The
 * watchdog's clock jumped as well then, and the main thread used no CPU. A thread that waits in synchronous I/O uses no CPU either,
 * but the watchdog ran on.
 */
import { standstillWithin } from '../capture/shared-memory.ts';
import type { Block } from './iteration-ledger.ts';

/** Whether what is left of a block without the standstill in it is shorter than the threshold. */
export function isStandstill(
  { start, end, cpu }: Pick<Block, 'start' | 'end' | 'cpu'>,
  marks: Float64Array,
  thresholdMillis: number,
): boolean {
  const length = end - start;
  const stoodStill = Math.min(standstillWithin(marks, start, end), length - cpu);
  return length - stoodStill < thresholdMillis;
}
