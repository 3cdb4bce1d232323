/** The watchdog thread that all worker threads share. */
import type { ThreadExtra } from '../extra.ts';
import type { UnnamedFacts } from '../report/ongoing-facts.ts';
import type { SharedWatchdogData } from './main-thread.ts';
import { WatchedThreads } from './watched-threads.ts';

export const workers: ThreadExtra = {
  watchOthers(workerData, reportOngoing) {
    const { words } = workerData as SharedWatchdogData;
    new WatchedThreads<UnnamedFacts>(words, reportOngoing).start();
  },
};
