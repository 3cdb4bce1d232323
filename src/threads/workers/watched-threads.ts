/**
 * The watchdog thread that all worker threads share: watches those that ask for it, until they have
 * ended. Watchdog thread only.
 */
import {
  BroadcastChannel,
  type MessagePort,
  parentPort,
  receiveMessageOnPort,
} from 'node:worker_threads';
import { clockOf } from '../../core/sample/clock-origin.ts';
import type { OngoingReport, WatchdogData, WatchdogMessage } from '../../core/sample/protocol.ts';
import { Progress, SharedMemory, Word } from '../../core/sample/shared-memory.ts';
import { watchThread } from '../../core/sample/watchdog-loop.ts';
import { attempt } from '../../support/guard.ts';
import { now } from '../../support/time.ts';
import { KEY, type WorkerMessage } from './main-thread.ts';
import { isTitleOf, OpenSessions, RouteToWorker, type WorkerDomain } from './route-to-worker.ts';
import { SharedSleep, SleepOfThread } from './shared-sleep.ts';

/** A thread without a beat for this long is blocked, or was terminated and could not say so. */
const SILENT_MILLIS = 10_000;
/** After this time without a thread to watch, this one ends. */
const UNUSED_MILLIS = 60_000;

/** How long an answer may take: the main thread may be in a native call. */
const MAX_ANSWER_MILLIS = 1000;
const POLL_MILLIS = 5;

interface Watched {
  readonly threadId: number;
  readonly memory: SharedMemory;
  readonly now: () => number;
  /** When it is asked for again whether it lives: a time of the watchdog thread. */
  askAt: number;
}

export class WatchedThreads {
  readonly #watched = new Map<string, Watched>();
  readonly #sleep: SharedSleep;
  readonly #sessions: OpenSessions;
  readonly #channel = new BroadcastChannel(KEY);
  #unusedSince = now();

  constructor(
    private readonly words: Int32Array,
    /** Returns the function that reports the ongoing blocks of one watched thread. */
    private readonly reporter: (data: WatchdogData) => (report: OngoingReport) => void,
  ) {
    this.#sleep = new SharedSleep(words);
    this.#sessions = new OpenSessions(words);
  }

  start(): void {
    this.#channel.onmessage = (event) => this.#watch((event as { data: WatchdogData }).data);
    // The same, passed on by the main thread.
    if (parentPort !== null) this.#receive(parentPort);
    void this.#letGo();
  }

  #receive(port: MessagePort): void {
    // The thread sleeps before its loop would bring what has been sent while it started.
    for (let next = receiveMessageOnPort(port); next; next = receiveMessageOnPort(port))
      this.#watch(next.message);
    port.on('message', (data: WatchdogData) => this.#watch(data));
  }

  #watch(data: WatchdogData): void {
    // It has asked once more before the answer came, or by both ways.
    if (this.#watched.has(data.channel)) return;
    const { threadId } = data;
    const now = clockOf(data.clockOrigin);
    const memory = new SharedMemory(data.memory);
    const askAt = now() + SILENT_MILLIS;
    this.#watched.set(data.channel, { threadId, memory, now, askAt });
    const sleep = new SleepOfThread(this.#sleep, memory, now);
    const route = new RouteToWorker(threadId, this.words);
    const post = (message: WatchdogMessage) => send(data.channel, message);
    void watchThread(data, memory, sleep, route, post, this.reporter(data)).then(() => {
      this.#watched.delete(data.channel);
      this.#unusedSince = now();
    });
  }

  async #letGo(): Promise<void> {
    for (;;) {
      await this.#sleep.until(now() + SILENT_MILLIS, false, () => false);
      const silent = [...this.#watched.values()].filter((watched) => this.#isSilent(watched));
      if (silent.length > 0) await this.#letGoOf(silent);
      const isUnused = this.#watched.size === 0;
      if (isUnused && now() - this.#unusedSince > UNUSED_MILLIS) process.exit();
    }
  }

  #isSilent(watched: Watched): boolean {
    return silenceOf(watched) > SILENT_MILLIS && now() > watched.askAt;
  }

  async #letGoOf(silent: readonly Watched[]): Promise<void> {
    const living = await livingThreads(this.#sessions, this.#sleep);
    if (living === undefined) return;
    for (const watched of silent) {
      const { memory, threadId } = watched;
      if (living(threadId)) watched.askAt = now() + silenceOf(watched);
      else Atomics.store(memory.words, Word.closing, 1);
    }
  }
}

const silenceOf = ({ memory, now }: Watched) => now() - memory.progress.get(Progress.beatAt);

function send(channelName: string, message: WorkerMessage): void {
  const channel = new BroadcastChannel(channelName);
  channel.postMessage(message);
  channel.close();
}

/** Tells whether a thread lives; undefined if that cannot be found out now. */
async function livingThreads(
  sessions: OpenSessions,
  sleep: SharedSleep,
): Promise<((threadId: number) => boolean) | undefined> {
  const inspector = attempt(() => require('node:inspector') as typeof import('node:inspector'));
  if (inspector === undefined || !sessions.enter()) return undefined;
  const session = new inspector.Session();
  try {
    session.connectToMainThread();
    const titles: string[] = [];
    let isKnown = false;
    const workers = session as unknown as WorkerDomain;
    workers.on('NodeWorker.attachedToWorker', ({ params: { sessionId, workerInfo } }) => {
      titles.push(workerInfo.title);
      workers.post('NodeWorker.detach', { sessionId });
    });
    workers.post('NodeWorker.enable', { waitForDebuggerOnStart: false }, (error) => {
      isKnown = error === null;
    });
    const until = now() + MAX_ANSWER_MILLIS;
    while (!isKnown && !sessions.isClosing && now() < until)
      await sleep.until(now() + POLL_MILLIS, true, () => false);
    return isKnown ? (id) => titles.some((title) => isTitleOf(title, id)) : undefined;
  } catch {
    return undefined;
  } finally {
    attempt(() => session.removeAllListeners().disconnect());
    sessions.leave();
  }
}
