/**
 * The watchdog thread of all worker threads as one of them sees it: has it started on the main
 * thread if there is none, asks it to watch, and asks again if it has ended.
 */
import type { Session } from 'node:inspector';
import { BroadcastChannel, getEnvironmentData } from 'node:worker_threads';
import { evaluation } from '../../core/sample/capture-session.ts';
import { ProcessWord } from '../../core/sample/shared-memory.ts';
import type { ThreadEvents, ThreadKeeper } from '../../core/sample/watchdog-thread.ts';
import type { OnceLogger } from '../../otel/diag-once.ts';
import { attempt, Guard } from '../../support/guard.ts';
import { Restarts } from '../../support/own-threads.ts';
import { MAIN_THREAD_CODE } from '../../worker-code.generated.ts';
import { KEY, type MainThreadRequest, type WorkerMessage } from './main-thread.ts';
import { OpenSessions } from './route-to-worker.ts';

/** A request is lost while the watchdog thread starts. It is sent again, ever later. */
const RETRY_MILLIS = 100;
const MAX_RETRY_MILLIS = 5000;

export class SharedWatchdogThread implements ThreadKeeper {
  readonly #guard: Guard;
  readonly #restarts = new Restarts();
  #words = getEnvironmentData(KEY) as Int32Array | undefined;
  /** What is sent to this thread comes by it. */
  #channel: BroadcastChannel | undefined;
  /** While the main thread is asked to start the watchdog thread. */
  #session: Session | undefined;
  /** Counts it; unknown before the main thread has answered for the first time. */
  #sessions: OpenSessions | undefined;
  #isWatching = false;
  #askAt = 0;
  #retryMillis = RETRY_MILLIS;

  constructor(
    private readonly events: ThreadEvents,
    log: OnceLogger,
  ) {
    this.#guard = new Guard(log);
  }

  get isWatching(): boolean {
    return this.#isWatching;
  }

  /**
   * If the main thread has this package, it hears at once of a thread whose loop may not turn for
   * long: tasks may wait that were sent before it had loaded.
   */
  begin(): void {
    if (this.#words === undefined) return;
    this.#guard.run('cannot ask to be watched yet', () => {
      this.#listen();
      this.#askToBeWatched();
    });
  }

  keepUp(now: number): void {
    if (this.#isWatching) {
      if (!this.#isRunning()) this.#onEnded(now);
    } else if (now >= this.#askAt) {
      this.#askAt = now + this.#retryMillis;
      this.#retryMillis = Math.min(MAX_RETRY_MILLIS, 2 * this.#retryMillis);
      this.#ask();
    }
  }

  wake(): void {
    if (this.#words === undefined) return;
    Atomics.add(this.#words, ProcessWord.wakeUps, 1);
    Atomics.notify(this.#words, ProcessWord.wakeUps);
  }

  terminate(): void {
    this.#closeSession();
    const channel = this.#channel;
    this.#channel = undefined;
    attempt(() => channel?.close());
    this.#isWatching = false;
    this.#restarts.reset();
    this.#askAt = 0;
    this.#retryMillis = RETRY_MILLIS;
    this.wake();
  }

  #isRunning(): boolean {
    return this.#words !== undefined && Atomics.load(this.#words, ProcessWord.running) === 1;
  }

  #ask(): void {
    try {
      this.#listen();
      if (this.#isRunning()) this.#askToBeWatched();
      else if (this.#session === undefined) this.#askMainThread();
    } catch (error) {
      this.#askAt = Number.POSITIVE_INFINITY;
      this.events.lost(error instanceof Error ? error.message : String(error));
    }
  }

  #listen(): void {
    if (this.#channel !== undefined) return;
    const channel = new BroadcastChannel(this.events.channelName);
    channel.onmessage = (event) => {
      const { data } = event as { data: WorkerMessage };
      this.#guard.run('internal error; the watchdog continues', () => this.#onMessage(data));
    };
    channel.unref();
    this.#channel = channel;
  }

  #askToBeWatched(): void {
    const channel = new BroadcastChannel(KEY);
    channel.postMessage(this.events.prepare().workerData);
    channel.close();
    this.wake();
  }

  #askMainThread(): void {
    const { code, env } = this.events.prepare();
    this.#sessions = this.#words && new OpenSessions(this.#words);
    // The main thread exits.
    if (this.#sessions?.enter() === false) return;
    const session = this.#openSession();
    this.#session = session;
    const expression = onMainThread({ channelName: this.events.channelName, code, env });
    session.post('Runtime.evaluate', evaluation(expression), (error, response) => {
      this.#closeSession();
      const reason = error?.message ?? response?.exceptionDetails?.exception?.description;
      if (reason === undefined) return;
      this.#askAt = Number.POSITIVE_INFINITY;
      this.#guard.run('internal error', () => this.events.lost(reason.split('\n', 1)[0] as string));
    });
  }

  #openSession(): Session {
    try {
      return openSession();
    } catch (error) {
      this.#sessions?.leave();
      throw error;
    }
  }

  #closeSession(): void {
    const session = this.#session;
    if (session === undefined) return;
    this.#session = undefined;
    attempt(() => session.disconnect());
    this.#sessions?.leave();
  }

  #onMessage(message: WorkerMessage): void {
    switch (message.type) {
      case 'words':
        this.#words = message.words;
        this.#ask();
        break;
      case 'ready':
        this.#isWatching = true;
        this.events.ready();
        break;
      case 'no-capture':
        this.#isWatching = true;
        this.events.lost(message.reason);
    }
  }

  #onEnded(now: number): void {
    this.#isWatching = false;
    this.events.ended();
    const { delayMillis, isPostponed } = this.#restarts.afterEnd(now);
    this.#askAt = now + delayMillis;
    this.#retryMillis = RETRY_MILLIS;
    if (isPostponed) this.events.lost(Restarts.EXHAUSTED);
  }
}

/** The modules of Node.js are all that the code requires. */
function onMainThread(request: MainThreadRequest): string {
  const args = `process.getBuiltinModule, ${JSON.stringify(request)}`;
  return `((require, request) => {${MAIN_THREAD_CODE}})(${args})`;
}

/** It is not imported, since there are builds of Node.js without an inspector. */
function openSession(): Session {
  const { getBuiltinModule } = process as unknown as {
    getBuiltinModule(id: 'node:inspector'): typeof import('node:inspector');
  };
  const session = new (getBuiltinModule('node:inspector').Session)();
  session.connectToMainThread();
  return session;
}
