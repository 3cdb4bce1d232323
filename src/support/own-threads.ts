/** How the threads of this package are started, and started again. */
import fs from 'node:fs';
import { Worker, type WorkerOptions } from 'node:worker_threads';
import { attempt } from './guard.ts';

// Taken once: an application may replace it.
const { readFileSync } = fs;

const THREAD_OPTIONS: WorkerOptions = {
  eval: true,
  name: 'event-loop-watchdog',
  argv: [],
  // Without the host's flags and its NODE_OPTIONS: its preloads would run in this thread, too.
  execArgv: [],
  stdout: true,
  stderr: true,
  // Files that the thread has open are closed when it ends.
  trackUnmanagedFds: true,
  // V8 of Node.js 26 may give a new heap a freed page of the main thread's, of up to 32 MB
  // (`--large-page-pool`): with less than that and 4 MB, the start would end the process.
  resourceLimits: { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 2, stackSizeMb: 1 },
};

/**
 * If the address space ends (`ulimit -v`), V8 ends the process. A thread takes up to 0.9 GB of it
 * (Node.js 26), and the application gets as much as that.
 */
const MIN_ADDRESS_SPACE = 2 * 1024 ** 3;

/** @throws if the process may not start a thread, or could not go on with it */
export function startThread(code: string, options: WorkerOptions): Worker {
  if (freeAddressSpace() < MIN_ADDRESS_SPACE)
    throw new Error('a thread needs more address space than `ulimit -v` leaves');
  return new Worker(code, { ...THREAD_OPTIONS, ...options });
}

/** In bytes. NaN if it has no limit, and elsewhere than on Linux. */
function freeAddressSpace(): number {
  const limit = numberAfter('Max address space', '/proc/self/limits');
  return limit - 1024 * numberAfter('VmSize:', '/proc/self/status');
}

/** Without a regular expression: on the main thread it may run inside the application's code. */
function numberAfter(label: string, path: string): number {
  const text = attempt(() => readFileSync(path, 'latin1')) ?? '';
  return Number.parseInt(text.slice(text.indexOf(label) + label.length), 10);
}

/** Restarts that are possible at once; then one in each interval. */
const BURST = 3;
const REFILL_MILLIS = 10 * 60_000;
/** The first restart of a burst comes after this time, the second after twice this time. */
const DELAY_MILLIS = 1000;

/** When a thread of this package that has ended by itself is started again. */
export class Restarts {
  static readonly EXHAUSTED =
    `its watchdog thread has ended ${BURST + 1} times; ` +
    `it is started again within ${REFILL_MILLIS / 60_000} minutes`;

  #usedUntil = Number.NEGATIVE_INFINITY;

  /**
   * Call it when it has ended. `now`: a time in milliseconds.
   * @returns `isPostponed`: there were too many, and it comes within `REFILL_MILLIS`
   */
  afterEnd(now: number): { readonly delayMillis: number; readonly isPostponed: boolean } {
    this.#usedUntil = Math.max(this.#usedUntil, now) + REFILL_MILLIS;
    const used = Math.ceil((this.#usedUntil - now) / REFILL_MILLIS);
    const isPostponed = used > BURST;
    const delayMillis = isPostponed
      ? this.#usedUntil - BURST * REFILL_MILLIS - now
      : used * DELAY_MILLIS;
    return { delayMillis, isPostponed };
  }

  reset(): void {
    this.#usedUntil = Number.NEGATIVE_INFINITY;
  }
}
