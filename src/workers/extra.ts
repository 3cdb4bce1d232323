/** Worker threads are watched, too. */
import { isMainThread } from 'node:worker_threads';
import type { Extra, SessionView } from '../extra.ts';
import { captureStack } from '../sample/stack.ts';
import { PoolWaits } from './pool-waits.ts';
import { SharedWatchdogThread } from './shared-watchdog-thread.ts';
import { WorkerRequests } from './worker-requests.ts';

export const workers: Extra = {
  WorkerWatchdog: SharedWatchdogThread,
  inSession: (session) => (isMainThread ? new WorkerRequests(session.guard) : poolWaitsIn(session)),
};

function poolWaitsIn(session: SessionView): PoolWaits {
  const { guard, ledger, log, watchdogMemory } = session;
  return new PoolWaits(
    {
      begins() {
        guard.run('cannot report blocks', () => ledger.finish());
        session.reportNow();
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
