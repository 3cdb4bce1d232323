/** The watchdog thread as the main thread manages it: started, started again, and ended. */
import { performance } from 'node:perf_hooks';
import { Worker } from 'node:worker_threads';
import type { OnceLogger } from '../otel/diag-once.ts';
import { Guard } from '../support/guard.ts';
import type { WatchdogMessage } from './protocol.ts';

/** A thread that ends by itself is started again this often, and not at once. */
const MAX_RESTARTS = 3;
const RESTART_DELAY_MILLIS = 1000;

/** What the thread is started with, asked for each time. */
export interface ThreadStart {
  readonly code: string;
  readonly env: Record<string, string>;
  readonly workerData: unknown;
}

export interface ThreadEvents {
  prepare(): ThreadStart;
  ready(): void;
  /** It has ended, and is started again later. */
  ended(): void;
  /** Stack samples cannot be taken, or not any more. */
  lost(reason: string): void;
}

export class WatchdogThread {
  readonly #guard: Guard;
  #worker: Worker | undefined;
  #isWatching = false;
  #restarts = 0;
  #startAt = 0;

  constructor(
    private readonly events: ThreadEvents,
    private readonly log: OnceLogger,
  ) {
    this.#guard = new Guard(log);
  }

  /** Whether it has begun to watch, and still does. */
  get isWatching(): boolean {
    return this.#isWatching;
  }

  /** Starts it where there is none and it is time to. `now`: a time of `performance.now()`. */
  keepUp(now: number): void {
    if (this.#worker === undefined && now >= this.#startAt) this.#start();
  }

  terminate(): void {
    const worker = this.#worker;
    this.#worker = undefined;
    this.#isWatching = false;
    this.#restarts = 0;
    this.#startAt = 0;
    // It ends by itself, too, but only when it wakes up.
    worker?.terminate().catch(() => {});
  }

  #start(): void {
    // Whatever goes wrong here would go wrong the next time.
    this.#startAt = Number.POSITIVE_INFINITY;
    try {
      const { code, env, workerData } = this.events.prepare();
      const worker = new Worker(code, {
        eval: true,
        name: 'event-loop-watchdog',
        argv: [],
        // Not the host's flags nor its NODE_OPTIONS: a preload of the host would run in there.
        execArgv: [],
        env,
        stdout: true,
        stderr: true,
        // What the thread has open is closed when it ends.
        trackUnmanagedFds: true,
        resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2, stackSizeMb: 1 },
        workerData,
      });
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
    if (this.#restarts === MAX_RESTARTS) {
      this.events.lost(`its watchdog thread has ended ${MAX_RESTARTS + 1} times`);
      return;
    }
    this.#restarts++;
    this.#startAt = performance.now() + RESTART_DELAY_MILLIS * this.#restarts;
  }

  /** For what Node.js calls: an exception would end the process. */
  #guarded(action: () => void): void {
    this.#guard.run('internal error; the watchdog goes on', action);
  }
}
