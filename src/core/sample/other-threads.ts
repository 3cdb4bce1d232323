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
 * The watchdog thread calls it before it marks a busy period as old, in each iteration that is long
 * by the wall. It keeps the files open, which takes a third of the 150 µs. Node.js closes them when
 * the thread ends.
 * @param watched the folder of the watched thread; undefined outside Linux
 */
export function noteOthers({ sleep }: SharedMemory, watched: string | undefined): void {
  sleep.set(Sleeping.othersDelay, watched === undefined ? 0 : delayOf(othersOf(watched), kept));
}

/** Of the threads that {@link noteOthers} has read last, by their folders. */
const kept = new Map<string, Schedstat>();

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
  const opened = new Map<string, Schedstat>();
  const millis = delayOf(othersOf(watched), opened);
  for (const schedstat of opened.values()) schedstat.stop();
  return millis;
}

function othersOf(watched: string): string[] {
  const threads = dirname(watched);
  const ids = (attempt(() => readdirSync(threads)) ?? []).filter((id) => id !== basename(watched));
  return ids.slice(0, MAX_THREADS).map((id) => `${threads}/${id}`);
}

/** @param opened keeps those that could be read, and no others */
function delayOf(folders: readonly string[], opened: Map<string, Schedstat>): number {
  let millis = 0;
  for (const folder of folders) {
    const schedstat = opened.get(folder) ?? new Schedstat(() => openFile(`${folder}/schedstat`));
    schedstat.start();
    opened.set(folder, schedstat);
    if (schedstat.read()) millis += schedstat.waited;
    // It has ended; another thread may get its number.
    else close(opened, folder);
  }
  if (opened.size > folders.length)
    for (const folder of opened.keys()) if (!folders.includes(folder)) close(opened, folder);
  return millis;
}

function close(opened: Map<string, Schedstat>, folder: string): void {
  opened.get(folder)?.stop();
  opened.delete(folder);
}
