import type { SharedMemory } from '../../../src/core/sample/shared-memory.ts';
import { noteSuspension } from '../../../src/core/sample/suspensions.ts';
import { announceSleep } from '../../../src/core/sample/thread-sleep.ts';

/** The watchdog thread was suspended; afterwards it sleeps for long. */
export function suspendWatchdog(
  memory: SharedMemory,
  from: number,
  until: number,
  accounted?: number,
): void {
  noteSuspension(memory, from, until, accounted);
  announceSleep(memory, Number.POSITIVE_INFINITY);
}
