/** The extras in the watchdog thread. Each has its own lines here. */
import type { ThreadExtra } from './extra.ts';
import { ongoing } from './ongoing/ongoing-reporter.ts';
import { workers } from './workers/watched-threads.ts';

export const THREAD_EXTRAS: readonly ThreadExtra[] = [
  ongoing, //
  workers,
];
