/** The main thread's watchdog thread as that manages it: started, started again, and ended. */
import type { Worker } from 'node:worker_threads';
import type { OnceLogger } from '../../otel/diag-once.ts';
import { Guard } from '../../support/guard.ts';
import { Restarts, startThread } from '../../support/own-threads.ts';
import { now } from '../../support/time.ts';
import type { WatchdogData, WatchdogMessage } from './protocol.ts';

export interface ThreadStart {
  readonly code: string;
  readonly env: Record<string, string>;
  readonly workerData: WatchdogData;
}

export interface ThreadEvents {
  /** A watchdog thread that is not this thread's own sends its messages over this channel. */
  readonly channelName: string;
  prepare(): ThreadStart;
  ready(): void;
  /** The thread has ended, and is started again later. */
  ended(): void;
  /** Stack samples cannot be taken, or not any more. */
  lost(reason: string): void;
}

/** The watched thread manages its watchdog thread by this. */
export interface ThreadKeeper {
  /** Whether it has begun to watch, and still does. */
  readonly isWatching: boolean;
  /** The thread that is to be watched begins, maybe inside code that runs for long. */
  begin?(): void;
  /** Starts it if there is none and it is time to. `now`: a time of `performance.now()`. */
  keepUp(now: number): void;
  /** Makes the thread read the words of the shared memory. */
  wake(): void;
  terminate(): void;
}

export type ThreadKeeperClass = new (events: ThreadEvents, log: OnceLogger) => ThreadKeeper;

export class WatchdogThread implements ThreadKeeper {
  readonly #guard: Guard;
  #worker: Worker | undefined;
  #isWatching = false;
  readonly #restarts = new Restarts();
  #startAt = 0;

  constructor(
    private readonly events: ThreadEvents,
    private readonly log: OnceLogger,
  ) {
    this.#guard = new Guard(log);
  }

  get isWatching(): boolean {
    return this.#isWatching;
  }

  keepUp(now: number): void {
    if (this.#worker === undefined && now >= this.#startAt) this.#start();
  }

  /** The thread sleeps on the words themselves. */
  wake(): void {}

  terminate(): void {
    const worker = this.#worker;
    this.#worker = undefined;
    this.#isWatching = false;
    this.#restarts.reset();
    this.#startAt = 0;
    // The thread would end by itself only when it wakes up.
    worker?.terminate().catch(() => {});
  }

  #start(): void {
    // Whatever goes wrong here would go wrong the next time.
    this.#startAt = Number.POSITIVE_INFINITY;
    try {
      const { code, env, workerData } = this.events.prepare();
      const worker = startThread(code, { env, workerData });
      this.#worker = worker;
      worker.on('error', (error) => this.log.log('warn', 'the watchdog thread failed', error));
      worker.on('exit', () => this.#guarded(() => this.#onExit(worker)));
      worker.on('message', (message: WatchdogMessage) =>
        this.#guarded(() => this.#onMessage(worker, message)),
      );
      worker.unref();
    } catch (error) {
      this.events.lost(error instanceof Error ? error.message : String(error));
    }
  }

  #onMessage(worker: Worker, message: WatchdogMessage): void {
    if (worker !== this.#worker) return;
    this.#isWatching = true;
    if (message.type === 'ready') this.events.ready();
    else this.events.lost(message.reason);
  }

  #onExit(worker: Worker): void {
    if (worker !== this.#worker) return;
    this.#worker = undefined;
    this.#isWatching = false;
    this.events.ended();
    const endedAt = now();
    const { delayMillis, isPostponed } = this.#restarts.afterEnd(endedAt);
    this.#startAt = endedAt + delayMillis;
    if (isPostponed) this.events.lost(Restarts.EXHAUSTED);
  }

  /** Node.js calls these: an exception would end the process. */
  #guarded(action: () => void): void {
    this.#guard.run('internal error; the watchdog continues', action);
  }
}
