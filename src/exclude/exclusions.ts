/** Decides which of the ledger's blocks are no blocks of the application's making. */
import type { Block } from '../block.ts';
import { isDebuggerPause } from './debugger-pause.ts';
import { isTeardown } from './process-exit.ts';
import type { RunDelay } from './run-delay.ts';
import { isSuspension } from './suspension.ts';

/** Why a block is not reported. */
export type ExclusionReason = 'teardown' | 'debugger' | 'suspension';

export class Exclusions {
  /** @param suspensionMarks the watchdog's marks, while its thread watches */
  constructor(
    private readonly thresholdMillis: number,
    private readonly suspensionMarks: () => Float64Array | undefined,
    private readonly runDelay: Pick<RunDelay, 'within'>,
  ) {}

  /** To be asked right after the block has ended. */
  reasonFor(block: Block): ExclusionReason | undefined {
    if (isTeardown(block)) return 'teardown';
    const waited = this.runDelay.within(block.start, block.end);
    if (isDebuggerPause(block, waited)) return 'debugger';
    const marks = this.suspensionMarks();
    return isSuspension(block, marks, this.thresholdMillis, waited) ? 'suspension' : undefined;
  }
}
