/** The extras in the watchdog thread. Each has its own lines here. */
import type { ThreadExtra } from './extra.ts';
import { ongoing } from './ongoing/thread-extra.ts';
import { profile } from './profile/thread-extra.ts';
import { workers } from './workers/thread-extra.ts';

export const THREAD_EXTRAS: readonly ThreadExtra[] = [
  ongoing, //
  profile,
  workers,
];
