/** The watched thread's side: keeps the watchdog thread running, and answers its requests. */
import { randomUUID } from 'node:crypto';
import { isMainThread, threadId } from 'node:worker_threads';
import type { StackSample } from '../../block.ts';
import type { OnceLogger } from '../../otel/diag-once.ts';
import { listen, unlisten } from '../../support/process-listeners.ts';
import { threadFolder } from '../../support/schedstat.ts';
import { now } from '../../support/time.ts';
import { LATE_MILLIS } from '../explain/name/weights.ts';
import { expressionFor, setAnswer } from './answers.ts';
import type { CaptureTimes } from './capture-times.ts';
import type { CapturedSample } from './capturer.ts';
import { originOfClock } from './clock-origin.ts';
import { isInspected } from './inspector.ts';
import { limitedRuns, type RunLimited } from './limited-runs.ts';
import { BARE, type CaptureReply, LOST, TAKEN, type WatchdogData } from './protocol.ts';
import {
  Progress,
  Request,
  SampleFor,
  type SharedMemory,
  Sleeping,
  timeOf,
  Word,
} from './shared-memory.ts';
import { takeStack } from './stack.ts';
import { noteWakeUp } from './suspensions.ts';
import type { ThreadKeeper, ThreadKeeperClass, ThreadStart } from './watchdog-thread.ts';

/**
 * How long this thread waits for the end of a stack sample: the watchdog thread polls every 10 ms,
 * but on a busy machine it may have no CPU.
 */
const MAX_WAIT_MILLIS = 500;

/** Why a stack sample is lost, if the function that answers has not been reached. */
const NO_STACK = 'no stack was left for it';

/** Asked for when the thread is started. */
export type ThreadSetup = Pick<ThreadStart, 'code' | 'env'> &
  Pick<WatchdogData, 'ongoing' | 'unfinishedAfterMillis'>;

export interface WatchdogEvents {
  threadSetup(): ThreadSetup;
  /** Runs inside the code that it samples. Undefined if the busy period is over. */
  capture(busyPeriodStart: number, requestedAt: number): CapturedSample | undefined;
  /** Runs inside the code that it describes for the report of an ongoing block. */
  reply(sample: StackSample): CaptureReply;
  /** The thread watches; or it does not, for now. */
  watching(isWatching: boolean): void;
  /** Stack samples cannot be taken, or not any more. */
  lost(): void;
}

export class Watchdog {
  readonly #channelName = `opentelemetry-instrumentation-event-loop.${randomUUID()}`;
  readonly #thread: ThreadKeeper;
  #isRunning = false;

  constructor(
    private readonly times: CaptureTimes,
    private readonly events: WatchdogEvents,
    private readonly log: OnceLogger,
    Thread: ThreadKeeperClass,
    readonly memory: SharedMemory,
  ) {
    this.#thread = new Thread(
      {
        channelName: this.#channelName,
        prepare: () => this.#prepareThread(),
        ready: () => events.watching(true),
        ended: () => this.#onThreadEnded(),
        lost: (reason) => this.#lose(reason),
      },
      log,
    );
  }

  /** The main thread's first {@link beat} starts its thread. */
  start(): void {
    if (this.#isRunning) return;
    this.#isRunning = true;
    Atomics.store(this.memory.words, Word.closing, 0);
    Atomics.store(this.memory.words, Word.idle, 0);
    setAnswer(this.#channelName, this.#answer);
    listen('exit', this.#closeSession);
    limitedRuns.start(this.#runLimited);
    this.#thread.begin?.();
  }

  stop(): void {
    if (!this.#isRunning) return;
    this.#isRunning = false;
    unlisten('exit', this.#closeSession);
    limitedRuns.stop(this.#runLimited);
    setAnswer(this.#channelName, undefined);
    // The process may end right after this. A session to a worker thread does not matter then.
    if (isMainThread) this.#closeSession();
    else this.#close();
    Atomics.notify(this.memory.words, Word.idle);
    this.#thread.terminate();
    this.events.watching(false);
  }

  /**
   * Call it now and then. `now`: a time of `performance.now()`; `idle`: for how long the loop
   * has waited for events so far.
   */
  beat(now: number, idle: number): void {
    if (this.#isRunning) this.#thread.keepUp(now);
    const { words, progress } = this.memory;
    // The function that answers has not been reached, or has failed: then it has noted why.
    if (Atomics.exchange(words, Word.sampleLost, 0) === 1) this.log.faults.inSample ??= NO_STACK;
    this.#followInspector();
    progress.values[Progress.beatAt] = now;
    progress.values[Progress.idleTime] = idle;
    progress.publish();
  }

  /** The loop is expected to wait: until {@link wakeUp} nothing has to be watched. */
  idle(): void {
    Atomics.store(this.memory.words, Word.idle, 1);
  }

  /** Something runs: the thread is woken up. */
  wakeUp(now: number): void {
    if (this.#thread.isWatching) noteWakeUp(this.memory, now);
    Atomics.store(this.memory.words, Word.idle, 0);
    Atomics.notify(this.memory.words, Word.idle);
    this.#thread.wake();
  }

  #prepareThread(): ThreadStart {
    const { code, ...setup } = this.events.threadSetup();
    const workerData: WatchdogData = {
      ...this.times,
      ...setup,
      memory: this.memory.buffer,
      threadId,
      threadFolder: threadFolder(),
      clockOrigin: originOfClock(),
      channel: this.#channelName,
      expression: expressionFor(this.#channelName),
    };
    return { code, env: setup.env, workerData };
  }

  #onThreadEnded(): void {
    // Nobody else writes these any more.
    const { words, sleep } = this.memory;
    Atomics.store(words, Word.markedBusyPeriod, 0);
    sleep.read();
    sleep.set(Sleeping.wakeUp, 0);
    Atomics.store(words, Word.connected, 0);
    this.events.watching(false);
  }

  #lose(reason: string): void {
    this.log.log('warn', `captureStack is off: ${reason}`);
    this.events.lost();
  }

  /**
   * Runs inside the code that blocks, maybe with no stack left: `catch` calls nothing. Undefined if
   * the code to sample has ended.
   */
  readonly #answer = (): string | undefined => {
    try {
      return this.#sample();
    } catch (error) {
      this.log.faults.inSample ??= error;
      return LOST;
    }
  };

  #sample(): string | undefined {
    const { memory } = this;
    // A debugger may have come since the beat, and may have paused the code.
    this.#followInspector();
    const request = memory.request.read();
    const requestedAt = request[Request.requestedAt] as number;
    const purpose = request[Request.purpose];
    const time = now();
    memory.answeredAt.set(0, time);
    const isRepeat = request[Request.isRepeat] === 1;
    const busyPeriodStart = timeOf(request[Request.busyPeriod] as number, time);
    // A late sample says that native code ran, whatever it shows.
    const isLate = time - requestedAt >= LATE_MILLIS;
    if (isRepeat && !isLate && !takeStack().showsCode()) return BARE;
    const sample = this.events.capture(busyPeriodStart, requestedAt);
    if (sample === undefined) return undefined;
    if (purpose === SampleFor.block) return sample.showsCode() ? TAKEN : BARE;
    return JSON.stringify(this.events.reply(sample));
  }

  /** Whether a debugger can be attached: for the health server. */
  #followInspector(): void {
    if (isMainThread) Atomics.store(this.memory.words, Word.inspected, isInspected() ? 1 : 0);
  }

  /** No session may be opened any more, and the thread ends. */
  #close(): void {
    const { words } = this.memory;
    Atomics.store(words, Word.closing, 1);
    Atomics.notify(words, Word.closing);
  }

  /** Node.js would print "Waiting for the debugger to disconnect" if a session were open. */
  readonly #closeSession = (): void => {
    try {
      this.#close();
      this.#awaitSession();
    } catch (error) {
      this.log.log('error', 'cannot close the watchdog', error);
    }
  };

  /** No session is open afterwards, once {@link Word.closing} or {@link Word.held} is 1. */
  #awaitSession(): void {
    const { words } = this.memory;
    if (Atomics.load(words, Word.connected) === 0) return;
    this.#thread.wake();
    Atomics.wait(words, Word.connected, 1, MAX_WAIT_MILLIS);
    // V8 ends a session in a wait, or, if it was closed just before, when a loop turns. A call of
    // an empty function would do, too, but the build removes it.
    for (let turn = 0; turn < 2; turn++);
  }

  /** No session is open until {@link Word.held} is 0 again. Returns its value before. */
  #hold(): number {
    const before = Atomics.exchange(this.memory.words, Word.held, 1);
    if (before === 0) this.#awaitSession();
    return before;
  }

  /**
   * Runs code that V8 may end. It skips the `finally` of all runs inside the one that it ends, so
   * each puts back what it has found.
   */
  readonly #runLimited: RunLimited = (code) => {
    const heldBefore = this.#hold();
    try {
      return code();
    } finally {
      Atomics.store(this.memory.words, Word.held, heldBefore);
    }
  };
}
