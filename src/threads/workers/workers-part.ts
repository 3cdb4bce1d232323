/** Worker threads are watched, too. */
import { isMainThread } from 'node:worker_threads';
import type { Ledger } from '../../core/record/ledger.ts';
import type { SharedMemory } from '../../core/sample/shared-memory.ts';
import { captureStack } from '../../core/sample/stack.ts';
import type { OnceLogger } from '../../otel/diag-once.ts';
import type { Guard } from '../../support/guard.ts';
import { PoolWaits } from './pool-waits.ts';
import { WorkerRequests } from './worker-requests.ts';

interface WorkerPorts {
  readonly guard: Guard;
  readonly ledger: Ledger;
  readonly log: OnceLogger;
  /** Undefined if stack samples cannot be taken. */
  readonly watchdogMemory: SharedMemory | undefined;
  /** Reports the blocks that have ended, at once. */
  reportNow(): void;
}

export const createWorkersPart = (ports: WorkerPorts) =>
  isMainThread ? new WorkerRequests(ports.guard) : poolWaitsIn(ports);

function poolWaitsIn(ports: WorkerPorts): PoolWaits {
  const { guard, ledger, log, watchdogMemory } = ports;
  return new PoolWaits(
    {
      begins() {
        guard.run('cannot report blocks', () => ledger.finish());
        ports.reportNow();
        watchdogMemory?.closeBusyPeriod();
      },
      ended: () => ledger.endWait(),
    },
    () => captureStack().find(({ isOwn }) => !isOwn)?.file,
    (error) => {
      log.faults.inHook ??= error;
    },
  );
}
