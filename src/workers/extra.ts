/** Worker threads are watched, too. */
import type { Extra } from '../extra.ts';
import { SharedWatchdogThread } from './shared-watchdog-thread.ts';

export const workers: Extra = { WorkerWatchdog: SharedWatchdogThread };
