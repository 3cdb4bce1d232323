/** Decides which of the ledger's blocks are no blocks of the application's making. */
import type { Block } from '../block.ts';
import type { Clock } from '../support/clock.ts';
import { isDebuggerPause } from './debugger-pause.ts';
import { isTeardown } from './process-exit.ts';
import { hasCpuQuota, RunDelay } from './run-delay.ts';
import { isSuspension } from './suspension.ts';

export class Exclusions {
  readonly #runDelay: RunDelay | undefined;

  /** @param suspensionMarks the watchdog's marks, while its thread watches */
  constructor(
    private readonly thresholdMillis: number,
    private readonly suspensionMarks: () => Float64Array | undefined,
    clock: Clock,
    runDelay = hasCpuQuota() ? new RunDelay(clock) : undefined,
  ) {
    this.#runDelay = runDelay;
  }

  start(): void {
    this.#runDelay?.start();
  }

  stop(): void {
    this.#runDelay?.stop();
  }

  /** To be called now and then while nothing blocks. `at`: now, or when what runs began. */
  sample(at?: number): void {
    this.#runDelay?.sample(at);
  }

  /** To be asked right after the block has ended. */
  isExcluded(block: Block): boolean {
    if (isDebuggerPause(block) || isTeardown(block)) return true;
    const waitedForCpu = this.#runDelay?.within(block.start, block.end);
    return isSuspension(block, this.suspensionMarks(), this.thresholdMillis, waitedForCpu);
  }
}
