/**
 * For how long the other threads of the process have had no CPU in a long busy period: the watched
 * thread may have waited for one of them, such as V8's, which collect garbage. Linux only.
 */
import fs from 'node:fs';
import { basename, dirname } from 'node:path';
import { attempt } from '../../support/guard.ts';
import { openFile, Schedstat } from '../../support/schedstat.ts';
import { type SharedMemory, Sleeping } from './shared-memory.ts';

// Taken once: an application may replace it.
const { readdirSync } = fs;

/** V8 and libuv have nine. */
const MAX_THREADS = 32;

/**
 * The watchdog thread calls it before it marks a busy period as old. 150 µs.
 * @param watched the folder of the watched thread; undefined outside Linux
 */
export function noteOthers({ sleep }: SharedMemory, watched: string | undefined): void {
  sleep.set(Sleeping.othersDelay, delayOfOthers(watched));
}

/**
 * Sum of the run delay of all other threads since the busy period, which is long, was marked as
 * old. If it was not, the watchdog thread itself has not run. The watched thread calls it. 150 µs.
 */
export function othersDelay(memory: SharedMemory, watched: string | undefined): number {
  if (watched === undefined) return 0;
  if (!memory.isMarked()) return Number.POSITIVE_INFINITY;
  return Math.max(0, delayOfOthers(watched) - memory.sleep.get(Sleeping.othersDelay));
}

/** Sum of the run delay of all threads but the watched one, so far. 150 µs. */
export function delayOfOthers(watched: string | undefined): number {
  if (watched === undefined) return 0;
  const threads = dirname(watched);
  const ids = (attempt(() => readdirSync(threads)) ?? []).filter((id) => id !== basename(watched));
  let millis = 0;
  for (const id of ids.slice(0, MAX_THREADS)) {
    const schedstat = new Schedstat(() => openFile(`${threads}/${id}/schedstat`));
    schedstat.start();
    if (schedstat.read()) millis += schedstat.waited;
    schedstat.stop();
  }
  return millis;
}
