/**
 * The watchdog thread that all worker threads share: takes those that ask for it, and lets go of
 * those that have ended. Watchdog thread only.
 */
import { performance } from 'node:perf_hooks';
import { BroadcastChannel } from 'node:worker_threads';
import { clockOf } from '../sample/clock-origin.ts';
import type { OngoingReport, WatchdogData } from '../sample/protocol.ts';
import { Flag, Mark } from '../sample/shared-memory.ts';
import { watchThread } from '../sample/watchdog-loop.ts';
import { livingThreads } from './living-threads.ts';
import { KEY, type WorkerMessage } from './main-thread.ts';
import { OpenSessions, RouteToWorker } from './route-to-worker.ts';
import { SharedSleep, SleepOfThread } from './shared-sleep.ts';

/** A thread that has had no beat for so long is blocked, or was terminated without a word. */
const SILENT_MILLIS = 10_000;
/** After so long without a thread to watch, this one ends. */
const UNUSED_MILLIS = 60_000;

interface Watched {
  readonly data: WatchdogData;
  readonly now: () => number;
  /** When it is asked for again whether it lives: a time of the watchdog thread. */
  askAt: number;
}

export class WatchedThreads<Facts extends object> {
  /** By the name of its channel. */
  readonly #watched = new Map<string, Watched>();
  readonly #sleep: SharedSleep;
  readonly #sessions: OpenSessions;
  readonly #channel = new BroadcastChannel(KEY);
  #unusedSince = performance.now();

  constructor(
    flags: Int32Array,
    private readonly reporterOf: (data: WatchdogData) => (report: OngoingReport<Facts>) => void,
  ) {
    this.#sleep = new SharedSleep(flags);
    this.#sessions = new OpenSessions(flags);
  }

  start(): void {
    this.#channel.onmessage = (event) => this.#watch((event as { data: WatchdogData }).data);
    void this.#letGo();
  }

  #watch(data: WatchdogData): void {
    // It has asked once more before the answer came.
    if (this.#watched.has(data.channel)) return;
    const now = clockOf(data.clockOrigin);
    this.#watched.set(data.channel, { data, now, askAt: performance.now() + SILENT_MILLIS });
    void watchThread<Facts>(data, {
      sleep: new SleepOfThread(this.#sleep, data.memory, now),
      route: new RouteToWorker(data.threadId, this.#sessions),
      post: (message) => send(data.channel, message),
      reportOngoing: this.reporterOf(data),
    }).then(() => {
      this.#watched.delete(data.channel);
      this.#unusedSince = performance.now();
    });
  }

  async #letGo(): Promise<void> {
    for (;;) {
      await this.#sleep.until(performance.now() + SILENT_MILLIS, false, () => false);
      const silent = [...this.#watched.values()].filter((watched) => this.#isSilent(watched));
      if (silent.length > 0) await this.#letGoOf(silent);
      const isUnused = this.#watched.size === 0;
      if (isUnused && performance.now() - this.#unusedSince > UNUSED_MILLIS) process.exit();
    }
  }

  #isSilent({ data, now, askAt }: Watched): boolean {
    const beatAt = data.memory.marks[Mark.beatAt] as number;
    return now() - beatAt > SILENT_MILLIS && performance.now() > askAt;
  }

  async #letGoOf(silent: readonly Watched[]): Promise<void> {
    const living = await livingThreads(this.#sessions, this.#sleep);
    if (living === undefined) return;
    for (const watched of silent) {
      const { memory, threadId } = watched.data;
      const silence = watched.now() - (memory.marks[Mark.beatAt] as number);
      if (living(threadId)) watched.askAt = performance.now() + silence;
      else Atomics.store(memory.flags, Flag.closing, 1);
    }
  }
}

function send(channelName: string, message: WorkerMessage): void {
  const channel = new BroadcastChannel(channelName);
  channel.postMessage(message);
  channel.close();
}
