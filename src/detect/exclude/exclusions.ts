/** Decides which of the ledger's blocks are no blocks of the application's making. */
import type { Block, WeightedSample } from '../../block.ts';
import { hasUserCode } from '../../name/stack-path.ts';
import { LATE_MILLIS } from '../../name/weights.ts';
import { isInspected } from '../../sample/inspector.ts';
import type { SharedMemory } from '../../sample/shared-memory.ts';
import { maybeStoppedWithin, suspendedWithin } from '../../sample/suspensions.ts';
import type { WaitedAndRan } from './run-delay.ts';

/** Why a block is not reported. */
export type ExclusionReason = 'teardown' | 'debugger' | 'suspension';

/** async_hooks has the process itself for the resource if no callback runs. */
const NO_CALLBACK = 'PROCESS';
/** A paused thread uses hardly any CPU: the debugger's questions are answered on it. */
const MAX_PAUSED_CPU_SHARE = 0.1;

type Time = Pick<Block, 'start' | 'end' | 'cpu'>;

export class Exclusions {
  /** @param memory the watchdog's, while its thread watches */
  constructor(
    private readonly thresholdMillis: number,
    private readonly memory: () => SharedMemory | undefined,
    private readonly runDelay: {
      within(start: number, end: number, cpu: number): WaitedAndRan | undefined;
    },
  ) {}

  /** Has to be asked right after the block has ended. */
  reasonFor(block: Block): ExclusionReason | undefined {
    if (isTeardown(block)) return 'teardown';
    const waited = this.runDelayIn(block);
    if (isDebuggerPause(block, block.samples, waited)) return 'debugger';
    return this.#isSuspended(block, waited) ? 'suspension' : undefined;
  }

  /** How long the thread waited for a CPU in a block; undefined if that is not known. */
  runDelayIn({ start, end, cpu }: Time): WaitedAndRan | undefined {
    return this.runDelay.within(start, end, cpu);
  }

  /** Whether what still goes on has reached the threshold by a suspension only. */
  isSuspended(time: Time): boolean {
    // Asked in an overload: without a reading of the kernel's counters, 100 µs, if the thread ran.
    if (time.cpu >= this.thresholdMillis) return false;
    return this.#isSuspended(time, this.runDelayIn(time));
  }

  #isSuspended(time: Time, waited: WaitedAndRan | undefined): boolean {
    return isSuspension(time, this.memory(), this.thresholdMillis, waited);
  }
}

/** Node.js itself works between the last callback and the end: it waits for V8's threads. */
export function isTeardown({
  resourceType,
  samples,
}: Pick<Block, 'resourceType' | 'samples'>): boolean {
  return resourceType === NO_CALLBACK && samples.every(({ frames }) => !hasUserCode(frames));
}

/**
 * Whether a block was a pause in the debugger: a debugger can be attached, and the thread used no
 * CPU although it answered stack samples at once. In a synchronous call that waits (`execSync`, a
 * slow disk) it does not answer, or the call is known.
 * @param samples of the block; without any, time without CPU is taken for a pause
 * @param waited how long the thread waited for a CPU in it, and ran, if known: a paused one does
 *   not wait
 */
export function isDebuggerPause(
  time: Time,
  samples: readonly SampledTime[],
  waited?: WaitedAndRan,
): boolean {
  const length = time.end - time.start - (waited?.atLeast ?? 0);
  if (cpuOf(time, waited) >= length * MAX_PAUSED_CPU_SHARE || !isInspected()) return false;
  return weightOf(samples.filter(isAnsweredAtOnce)) * 2 >= weightOf(samples);
}

type SampledTime = Pick<WeightedSample, 'requestedAt' | 'time' | 'nativeCall' | 'weight'>;

const isAnsweredAtOnce = ({ requestedAt, time, nativeCall }: SampledTime) =>
  nativeCall === undefined && !(time - requestedAt >= LATE_MILLIS);

const weightOf = (samples: readonly SampledTime[]) =>
  samples.reduce((sum, { weight }) => sum + weight, 0);

/**
 * Whether the code's own part of a block, without the suspension in it, is shorter than the
 * threshold. The process was stopped (SIGSTOP), or without a CPU: other processes had it, or a
 * container is at its quota. What the code used itself, and what it waited in synchronous I/O, is
 * its own part.
 * @param memory of the watchdog; undefined if its thread does not watch
 * @param waited how long the thread waited for a CPU in it, and ran, if known
 */
export function isSuspension(
  time: Time,
  memory: SharedMemory | undefined,
  thresholdMillis: number,
  waited?: WaitedAndRan,
): boolean {
  const { start, end } = time;
  const length = end - start;
  let suspended = memory === undefined ? 0 : suspendedWithin(memory, start, end);
  if (waited !== undefined) {
    // The watchdog thread may have had no CPU while the main thread had one.
    const stopped = memory === undefined ? 0 : maybeStoppedWithin(memory, start, end);
    suspended = Math.max(suspended, waited.atLeast + stopped);
    suspended = Math.min(suspended, waited.atMost + stopped);
  }
  const cpu = cpuOf(time, waited);
  const own = length - Math.min(suspended, length - cpu);
  // Starved, it also waits for V8's threads, which are starved as well: one of both is its own.
  const isStarved = waited !== undefined && waited.atLeast > length / 2;
  return (isStarved ? Math.max(cpu, own - cpu) : own) < thresholdMillis;
}

/**
 * CPU time of the thread, at most: `cpu` may be that of the whole process, with the watchdog
 * thread's in it.
 */
const cpuOf = ({ cpu }: Time, waited: WaitedAndRan | undefined) =>
  Math.min(cpu, waited?.ranAtMost ?? Number.POSITIVE_INFINITY);
