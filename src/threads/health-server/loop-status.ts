/**
 * Whether the main thread's event loop turns, from outside of it.
 *
 * Guarantees: a loop that turns is never `stuck`; time in which the thread had no CPU does not
 * count as blocked, until `maxBlockedMillis` have passed; the age of a block never shrinks. The lag
 * timer's beat is the evidence: it comes when it is due, however little the process does, unless
 * something holds the loop. So a block is at least as old as its beat is late; it began up to one
 * interval of the timer earlier.
 */
import type { HealthServerData } from './protocol.ts';

/** A thread that is paused in a debugger uses hardly any CPU. */
const MAX_PAUSED_CPU_SHARE = 0.1;

/** At one moment. Milliseconds; what is counted, is counted since the latest beat. */
export interface LoopReading {
  readonly now: number;
  readonly due: number;
  /** CPU time of the main thread, or of the process if `waitedForCpu` is not known. */
  readonly ran: number;
  /** For how long the main thread waited for a CPU; NaN if that is not known. */
  readonly waitedForCpu: number;
  /** For how long the process was stopped, as far as the watchdog thread has seen. */
  readonly stopped: number;
  readonly isInspected: boolean;
}

export interface LoopStatus {
  readonly name: 'ok' | 'blocked' | 'stuck';
  readonly due: number;
  /** In tenths, as `overdueMillis`. 0 while nothing blocks. */
  readonly blockedMillis: number;
  /** How long an event that came when the beat was due has been waiting. */
  readonly overdueMillis: number;
}

export type StatusLimits = Pick<
  HealthServerData,
  'thresholdMillis' | 'failAfterMillis' | 'maxBlockedMillis'
>;

/** @param knownMillis the age of the block as it was answered before: what is counted may lag */
export function loopStatus(
  reading: LoopReading,
  limits: StatusLimits,
  knownMillis = 0,
): LoopStatus {
  const { due, ran, waitedForCpu, isInspected } = reading;
  const { thresholdMillis, failAfterMillis, maxBlockedMillis } = limits;
  const late = lateMillis(reading);
  const isTooOld = late >= maxBlockedMillis;
  const isLeftOut = !isTooOld && !Number.isNaN(waitedForCpu);
  const lateNow = tenths(Math.max(0, isLeftOut ? late - waitedForCpu : late));
  const overdueMillis = Math.max(lateNow, knownMillis);
  const ok = { name: 'ok', due, blockedMillis: 0, overdueMillis } as const;
  if (overdueMillis < Math.min(thresholdMillis, failAfterMillis)) return ok;
  if (isInspected && ran < lateNow * MAX_PAUSED_CPU_SHARE) return ok;
  return {
    name: overdueMillis < failAfterMillis && !isTooOld ? 'blocked' : 'stuck',
    due,
    blockedMillis: overdueMillis,
    overdueMillis,
  };
}

/** Rounded down, before it is compared: what is said is never at a limit that is not reached. */
const tenths = (millis: number) => Math.floor(millis * 10) / 10;

/** How late the beat is, without the time for which the process was stopped. */
function lateMillis({ now, due, ran, waitedForCpu, stopped }: LoopReading): number {
  const late = Math.max(0, now - due);
  if (Number.isNaN(waitedForCpu)) return Math.max(0, late - stopped);
  // While it was stopped it neither ran nor waited for a CPU.
  const unexplained = Math.max(0, late - ran - waitedForCpu);
  return late - Math.min(stopped, unexplained);
}
