/** The watchdog thread that all worker threads share. */
import type { ThreadExtra } from '../extra.ts';
import { WatchedThreads } from './watched-threads.ts';

export const workers: ThreadExtra = {
  watchOthers(workerData, uses) {
    // See `ProcessWord`.
    const { words } = workerData as { readonly words: Int32Array };
    new WatchedThreads(words, uses).start();
  },
};
