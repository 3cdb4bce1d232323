/** Decides which of the ledger's blocks are no blocks of the application's making. */
import type { Block } from '../../block.ts';
import type { SharedMemory } from '../../sample/shared-memory.ts';
import { isDebuggerPause } from './debugger-pause.ts';
import { isTeardown } from './process-exit.ts';
import type { WaitedForCpu } from './run-delay.ts';
import { isSuspension } from './suspension.ts';

/** Why a block is not reported. */
export type ExclusionReason = 'teardown' | 'debugger' | 'suspension';

type Time = Pick<Block, 'start' | 'end' | 'cpu'>;

export class Exclusions {
  /** @param memory the watchdog's, while its thread watches */
  constructor(
    private readonly thresholdMillis: number,
    private readonly memory: () => SharedMemory | undefined,
    private readonly runDelay: {
      within(start: number, end: number): WaitedForCpu | undefined;
    },
  ) {}

  /** To be asked right after the block has ended. */
  reasonFor(block: Block): ExclusionReason | undefined {
    if (isTeardown(block)) return 'teardown';
    const waited = this.runDelay.within(block.start, block.end);
    if (isDebuggerPause(block, waited)) return 'debugger';
    return this.#isSuspended(block, waited) ? 'suspension' : undefined;
  }

  /** How long the thread waited for a CPU in a block; undefined if that is not known. */
  runDelayIn({ start, end }: Pick<Block, 'start' | 'end'>): WaitedForCpu | undefined {
    return this.runDelay.within(start, end);
  }

  /** Whether what still goes on has reached the threshold by a suspension only. */
  isSuspended(time: Time): boolean {
    // Asked in an overload: without a reading of the kernel's counters, 100 µs, if the thread ran.
    if (time.cpu >= this.thresholdMillis) return false;
    return this.#isSuspended(time, this.runDelay.within(time.start, time.end));
  }

  #isSuspended(time: Time, waited: WaitedForCpu | undefined): boolean {
    return isSuspension(time, this.memory(), this.thresholdMillis, waited);
  }
}
