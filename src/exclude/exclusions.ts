/** Decides which of the ledger's blocks are no blocks of the application's making. */
import type { Block } from '../block.ts';
import { isDebuggerPause } from './debugger-pause.ts';
import { isTeardown } from './process-exit.ts';
import type { RunDelay } from './run-delay.ts';
import { isSuspension } from './suspension.ts';

export class Exclusions {
  /** @param suspensionMarks the watchdog's marks, while its thread watches */
  constructor(
    private readonly thresholdMillis: number,
    private readonly suspensionMarks: () => Float64Array | undefined,
    private readonly runDelay: Pick<RunDelay, 'within'>,
  ) {}

  /** To be asked right after the block has ended. */
  isExcluded(block: Block): boolean {
    if (isTeardown(block)) return true;
    const waited = this.runDelay.within(block.start, block.end);
    if (isDebuggerPause(block, waited)) return true;
    return isSuspension(block, this.suspensionMarks(), this.thresholdMillis, waited);
  }
}
