/** Decides which of the ledger's blocks are no blocks of the application's making. */
import type { Block } from '../../../block.ts';
import { LATE_MILLIS, type TimedSample } from '../../explain/name/weights.ts';
import type { SharedMemory } from '../../sample/shared-memory.ts';
import { maybeStoppedWithin, stoppedWithin } from '../../sample/suspensions.ts';
import { mayWait, onlyWaits } from '../native/waits.ts';
import type { WaitedAndRan } from './run-delay.ts';

/** A shorter sleep is not worth the reading of stacks, and of what other threads lacked. */
const MIN_SLEPT_MILLIS = 10;

type Time = Pick<Block, 'start' | 'end' | 'cpu'>;

export class Exclusions {
  /** @param memory the watchdog's, while its thread watches */
  constructor(
    private readonly thresholdMillis: number,
    private readonly memory: () => SharedMemory | undefined,
    private readonly runDelay: {
      within(start: number, end: number, cpu: number): WaitedAndRan | undefined;
    },
    /** How long other threads waited for a CPU in the running busy period. */
    private readonly others: () => number = () => 0,
  ) {}

  /** See {@link suspendedIn}. */
  suspendedIn(time: Time, samples: readonly TimedSample[] = []): Suspended {
    return suspendedIn(time, samples, this.memory(), this.runDelayIn(time), this.others);
  }

  /** How long the thread waited for a CPU in a block; undefined if that is not known. */
  runDelayIn({ start, end, cpu }: Time): WaitedAndRan | undefined {
    return this.runDelay.within(start, end, cpu);
  }

  /** Whether what still goes on has reached the threshold by a suspension only. */
  isSuspended(time: Time): boolean {
    // Asked in an overload: without a reading of the kernel's counters, 100 µs, if the thread ran.
    if (time.cpu >= this.thresholdMillis) return false;
    return this.isShort(time, this.suspendedIn(time));
  }

  /** Whether a block reached the threshold by a suspension only. Ask right after it has ended. */
  isShort({ start, end }: Time, { millis }: Suspended): boolean {
    return end - start - millis < this.thresholdMillis;
  }
}

export interface Suspended {
  readonly millis: number;
  /** The part of it in which it slept while other threads of the process lacked CPU, at least. */
  readonly sleptForOthers: number;
}

/**
 * How much of a block is no time of the code's own. Its own time is
 * 1. what it ran;
 * 2. what a wrapped call has waited (`execSync`), whatever the machine lacked meanwhile;
 * 3. what it slept beyond all that its thread, and the threads that it may have waited for, lacked
 *    of CPU, and beyond the time for which the process was stopped (SIGSTOP).
 * @param samples of the block, as far as they are known
 * @param memory of the watchdog; undefined if its thread does not watch
 * @param waited how long the thread waited for a CPU in it, and ran, if known
 * @param others how long other threads of the process waited for a CPU
 */
export function suspendedIn(
  time: Time,
  samples: readonly TimedSample[],
  memory: SharedMemory | undefined,
  waited: WaitedAndRan = NOT_KNOWN,
  others = () => 0,
): Suspended {
  const { start, end } = time;
  const missing = Math.max(0, end - start - cpuOf(time, waited));
  // A watchdog thread that has not noted yet why it is late may have had no CPU itself.
  const surelyStopped = memory === undefined ? 0 : stoppedWithin(memory, start, end);
  const stopped = memory === undefined ? 0 : maybeStoppedWithin(memory, start, end);
  const slept = missing - surelyStopped;
  const late = slept < MIN_SLEPT_MILLIS ? [] : samples;
  const seen = Math.min(
    slept,
    Math.max(
      waitIn(late, time, onlyWaits),
      Math.min(waitIn(late, time, mayWait), slept - waited.atLeast),
    ),
  );
  const notOwn = missing - Math.max(0, seen);
  const lacked = Math.min(notOwn, waited.atMost + stopped);
  const unexplained = notOwn - lacked;
  const sleptForOthers = unexplained < MIN_SLEPT_MILLIS ? 0 : Math.min(unexplained, others());
  return { millis: lacked + sleptForOthers, sleptForOthers };
}

const NOT_KNOWN = { atLeast: 0, atMost: 0, ranAtMost: Number.POSITIVE_INFINITY };

/** Milliseconds of some wrapped calls, as far as stack samples tell, which are in order of time. */
function waitIn(
  samples: readonly TimedSample[],
  { start, end }: Time,
  isWait: (name: string) => boolean,
): number {
  let until = end;
  let millis = 0;
  // The call itself tells of all of it, after the stack samples inside it.
  for (const sample of samples.toReversed()) {
    const from = Math.max(start, sample.requestedAt);
    const to = Math.min(sample.time, until);
    // The stack, which has the call, is read only then.
    if (!(to - from >= LATE_MILLIS)) continue;
    const { nativeCall } = sample;
    if (nativeCall === undefined || !isWait(nativeCall.name)) continue;
    millis += to - from;
    until = from;
  }
  return millis;
}

/**
 * CPU time of the thread, at most: `cpu` may be that of the whole process, with the watchdog
 * thread's in it.
 */
const cpuOf = ({ cpu }: Time, waited: WaitedAndRan | undefined) =>
  Math.min(cpu, waited?.ranAtMost ?? Number.POSITIVE_INFINITY);
