/**
 * For how long the other threads of the process had no CPU while the watched thread did not answer:
 * it may have waited for one of them, such as V8's, which collect garbage. Linux only.
 */
import fs from 'node:fs';
import { basename, dirname } from 'node:path';
import { attempt } from '../support/guard.ts';
import { openFile, Schedstat } from '../support/schedstat.ts';
import { type SharedMemory, Sleeping } from './shared-memory.ts';

/** Threads that are followed: V8 and libuv have nine, a watchdog thread is one. */
const MAX_THREADS = 32;

export class OtherThreads {
  #threads: { readonly schedstat: Schedstat; waited: number }[] | undefined;

  /** @param watched the folder of the watched thread; undefined outside Linux */
  constructor(
    private readonly memory: SharedMemory,
    private readonly watched: string | undefined,
  ) {}

  /** Call it now and then while an answer is awaited. 20 to 30 µs; the first time 150. */
  note(): void {
    if (this.watched === undefined) return;
    this.#threads ??= openOthers(this.watched);
    let sum = 0;
    for (const thread of this.#threads) {
      if (!thread.schedstat.read()) continue;
      // NaN before the first reading.
      sum += thread.schedstat.waited - thread.waited || 0;
      thread.waited = thread.schedstat.waited;
    }
    const { sleep } = this.memory;
    sleep.set(Sleeping.othersDelay, (sleep.values[Sleeping.othersDelay] as number) + sum);
  }

  /** The answer has come. */
  close(): void {
    for (const { schedstat } of this.#threads ?? []) schedstat.stop();
    this.#threads = undefined;
  }
}

/** @param own the folder of the watched thread, `/proc/<process>/task/<thread>` */
function openOthers(own: string) {
  const tasks = dirname(own);
  const ids = attempt(() => fs.readdirSync(tasks)) ?? [];
  return ids
    .filter((id) => id !== basename(own))
    .slice(0, MAX_THREADS)
    .map((id) => {
      const schedstat = new Schedstat(() => openFile(`${tasks}/${id}/schedstat`));
      schedstat.start();
      return { schedstat, waited: Number.NaN };
    });
}
