/** Which worker threads the process has, by the inspector. Watchdog thread only. */
import { performance } from 'node:perf_hooks';
import { attempt } from '../support/guard.ts';
import { isTitleOf, type OpenSessions, type WorkerDomain } from './route-to-worker.ts';
import type { SharedSleep } from './shared-sleep.ts';

/** The main thread may be in a native call. */
const MAX_WAIT_MILLIS = 1000;
const POLL_MILLIS = 5;

/** Tells whether a thread lives; undefined where that cannot be found out now. */
export async function livingThreads(
  sessions: OpenSessions,
  sleep: SharedSleep,
): Promise<((threadId: number) => boolean) | undefined> {
  const inspector = attempt(() => require('node:inspector') as typeof import('node:inspector'));
  if (inspector === undefined || !sessions.enter()) return undefined;
  const session = new inspector.Session();
  try {
    session.connectToMainThread();
    const titles: string[] = [];
    let isKnown = false;
    const workers = session as unknown as WorkerDomain;
    workers.on('NodeWorker.attachedToWorker', ({ params: { sessionId, workerInfo } }) => {
      titles.push(workerInfo.title);
      workers.post('NodeWorker.detach', { sessionId });
    });
    workers.post('NodeWorker.enable', { waitForDebuggerOnStart: false }, (error) => {
      isKnown = error === null;
    });
    const until = performance.now() + MAX_WAIT_MILLIS;
    while (!isKnown && !sessions.isClosing && performance.now() < until)
      await sleep.until(performance.now() + POLL_MILLIS, true, () => false);
    return isKnown ? (id) => titles.some((title) => isTitleOf(title, id)) : undefined;
  } catch {
    return undefined;
  } finally {
    attempt(() => session.removeAllListeners().disconnect());
    sessions.leave();
  }
}
