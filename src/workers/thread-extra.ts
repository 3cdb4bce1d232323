/** The watchdog thread that all worker threads share. */
import type { ThreadExtra } from '../extra.ts';
import type { SharedWatchdogData } from './main-thread.ts';
import { WatchedThreads } from './watched-threads.ts';

export const workers: ThreadExtra = {
  watchOthers(workerData, uses) {
    const { words } = workerData as SharedWatchdogData;
    new WatchedThreads(words, uses).start();
  },
};
