/**
 * Asks the watched thread for stack samples, by an inspector session. Watchdog thread only.
 *
 * Guarantees: a session is open only while a sample is taken, and none once the thread has said
 * that it closes, or while V8 may end what runs: see limited-runs.ts.
 */
import type { Runtime, Session } from 'node:inspector';
import { BARE, type CaptureReply, LOST, TAKEN, type WatchdogMessage } from './protocol.ts';
import { Request, SampleFor, type SharedMemory, Word } from './shared-memory.ts';
import type { Sleep } from './thread-sleep.ts';

export interface SampleRequest {
  readonly expression: string;
  /**
   * Called when the request reaches the watched thread, and only its own code delays the answer.
   */
  asked(): void;
  /** `askAgain` asks the same in the same session; absent if that is not possible. */
  answered(value: unknown, askAgain?: () => void): void;
  /** The watched thread cannot be reached by the inspector. */
  unreachable(reason: string): void;
  /** There is no such thread any more, as far as the inspector knows. */
  ended(): void;
}

/** How the inspector leads to one thread: as {@link TO_MAIN_THREAD}, or `RouteToWorker`. */
export interface CaptureRoute {
  /** Called before a session is opened; false if the process exits. */
  enter(): boolean;
  request(session: Session, request: SampleRequest): void;
  /** Called after the session is closed. */
  leave(): void;
  /** Whether other threads can delay a request. */
  readonly isIndirect: boolean;
  readonly isClosing: boolean;
}

export interface EvaluationResult {
  readonly result?: { readonly value?: unknown };
  readonly exceptionDetails?: unknown;
}

/**
 * `disableBreaks`: Node.js dispatches no message while it evaluates. A breakpoint, or a pause that
 * another session has asked for, would stop the thread here for good (Node.js 20 to 26).
 */
export const evaluation = (
  expression: string,
): Runtime.EvaluateParameterType & { readonly disableBreaks: true } => ({
  expression,
  returnByValue: true,
  silent: true,
  disableBreaks: true,
});

/** The value of the expression; {@link LOST} if it threw before its own `try`. */
export function answerIn(response: EvaluationResult | undefined): unknown {
  return response?.exceptionDetails === undefined ? response?.result?.value : LOST;
}

export const TO_MAIN_THREAD: CaptureRoute = {
  isIndirect: false,
  isClosing: false,
  enter: () => true,
  request(session, { expression, asked, answered }) {
    const ask = () => {
      asked();
      session.post('Runtime.evaluate', evaluation(expression), (error, response) => {
        if (error) answered(undefined);
        else answered(answerIn(response), ask);
      });
    };
    ask();
  },
  leave() {},
};

/** While a capture is under way, the main thread's exit must not be kept waiting for long. */
const POLL_MILLIS = 2;
/**
 * Between two promise reactions, and in what Node.js does for them, no code of the application is
 * on the stack. V8 interrupts a chain of short ones nearly always there: on Node.js 24, one in 13
 * samples of `for (const id of ids) total += await cache.get(id)` shows it. Such a sample is
 * repeated so many times at most, 25 µs each (of a worker, 55 µs of the main thread as well); in a
 * busy period in which that was in vain twice, not again.
 */
const MAX_REPEATS = 128;
const REPEAT_MILLIS = 0.2;
const MAX_IN_VAIN = 2;
const MAX_POLL_MILLIS = 10;
/**
 * If the main thread did not pass a request on in time, the next one is made after this pause, and
 * after twice the pause each further time: requests queue up there while it is in a native call.
 */
const UNREACHED_PAUSE_MILLIS = 20;
const MAX_UNREACHED_PAUSE_MILLIS = 1000;

type InspectorModule = typeof import('node:inspector');

/** `isOver` is true if the busy period had ended. */
export interface SampleOutcome {
  /** Undefined if the sample was lost, or `isOver`. */
  readonly reply: CaptureReply | typeof TAKEN | undefined;
  readonly isOver: boolean;
}

/** The answer is absent if the code that was to be sampled has ended. */
type Answer = CaptureReply | typeof TAKEN | typeof BARE | typeof LOST;

/** Connected only while it is used: a process that exits with a session open prints, and waits. */
export class CaptureSession {
  #session: Session | undefined;

  #isEntered = false;

  constructor(
    private readonly inspector: InspectorModule,
    private readonly words: Int32Array,
    private readonly route: CaptureRoute,
  ) {}

  /** False if the thread or the process exits, the watchdog is stopped, or V8 may end what runs. */
  open(): boolean {
    // The watched thread uses these words in the opposite order: one of the two reads the other's.
    Atomics.store(this.words, Word.connected, 1);
    if (Atomics.load(this.words, Word.closing) === 1) return false;
    if (Atomics.load(this.words, Word.held) === 1) return false;
    this.#isEntered = this.route.enter();
    if (!this.#isEntered) return false;
    this.#session = new this.inspector.Session();
    this.#session.connectToMainThread();
    return true;
  }

  request(request: SampleRequest): void {
    if (this.#session !== undefined) this.route.request(this.#session, request);
  }

  close(): void {
    try {
      // Events that come later are of no use: answering them, Node.js would print a warning.
      this.#session?.removeAllListeners();
      this.#session?.disconnect();
    } finally {
      if (this.#isEntered) this.route.leave();
      this.#session = undefined;
      Atomics.store(this.words, Word.connected, 0);
      Atomics.notify(this.words, Word.connected);
    }
  }
}

export class CaptureClient {
  readonly #inspector = loadInspector();
  /** Sessions cannot be opened. */
  #isLost = false;
  #pausedUntil = Number.NEGATIVE_INFINITY;
  #pause = UNREACHED_PAUSE_MILLIS;
  #isReached = true;
  /** The latest busy period in which repeats were in vain, and how often. */
  #inVain = { busyPeriod: 0, times: 0 };

  constructor(
    private readonly expression: string,
    private readonly memory: SharedMemory,
    private readonly route: CaptureRoute,
    private readonly now: () => number,
    private readonly sleep: Pick<Sleep, 'sleepInLoop'>,
    private readonly post: (message: WatchdogMessage) => void,
  ) {}

  /**
   * Whether stack samples can be taken, as far as that is known without a session: with the first
   * one, V8 on Node.js 26 begins to shrink the heap of an idle process (nodejs/node#66564), and a
   * service that never blocks, and is not busy, must not pay for that.
   */
  availability(): WatchdogMessage {
    return this.#inspector === undefined
      ? { type: 'no-capture', reason: 'this Node.js has no inspector' }
      : { type: 'ready' };
  }

  /** Whether the latest request has come to the watched thread: the main thread may delay it. */
  get isReached(): boolean {
    return this.#isReached;
  }

  /**
   * Takes one stack sample of a busy period: waits until the thread has answered, however long a
   * native call takes, and calls `onWaiting` meanwhile. The reply says what a report needs if
   * `isReportNear`.
   */
  async capture(
    busyPeriod: number,
    isReportNear: boolean,
    onWaiting: () => void,
  ): Promise<SampleOutcome> {
    const { values } = this.memory.request;
    values[Request.busyPeriod] = busyPeriod;
    values[Request.purpose] = isReportNear ? SampleFor.report : SampleFor.block;
    const answer = await this.#ask(busyPeriod, onWaiting);
    if (isBare(answer)) this.#inVain = { busyPeriod, times: this.#timesInVain(busyPeriod) + 1 };
    if (answer === LOST) return { reply: undefined, isOver: false };
    return { reply: answer === BARE ? TAKEN : answer, isOver: answer === undefined };
  }

  #timesInVain(busyPeriod: number): number {
    return this.#inVain.busyPeriod === busyPeriod ? this.#inVain.times : 0;
  }

  /** @returns undefined if it is over; {@link LOST} if there was no answer at all */
  async #ask(busyPeriod: number, onWaiting: () => void): Promise<Answer | undefined> {
    if (this.#inspector === undefined || this.#isLost || this.now() < this.#pausedUntil)
      return LOST;
    const { memory } = this;
    const { words, request } = memory;
    const session = new CaptureSession(this.#inspector, words, this.route);
    const isOver = () => Atomics.load(words, Word.busyPeriod) !== busyPeriod;
    const repeats = this.#timesInVain(busyPeriod) < MAX_IN_VAIN ? MAX_REPEATS : 0;
    let isFinished = false;
    let isAnswered = false;
    let answer: Answer | undefined;
    let askAgain = () => {};
    const answered = async (poll: number): Promise<Answer | undefined> => {
      for (let millis = poll; !isAnswered && !this.#mayNotSample; ) {
        await this.sleep.sleepInLoop(millis);
        millis = Math.min(MAX_POLL_MILLIS, millis + 1);
        if (isAnswered) break;
        // The main thread has not passed it on, and what was to be sampled is over.
        if (this.route.isIndirect && isOver()) {
          if (!this.#isReached) this.#pauseRequests();
          return undefined;
        }
        onWaiting();
      }
      return isAnswered ? answer : LOST;
    };
    try {
      request.values[Request.isRepeat] = 0;
      if (!this.#isOpened(session)) return LOST;
      // A sample that comes before it is known when it was asked for has not been delayed.
      request.set(Request.requestedAt, Number.NaN);
      this.#isReached = false;
      session.request({
        expression: this.expression,
        asked: () => {
          this.#isReached = true;
          this.#pause = UNREACHED_PAUSE_MILLIS;
          request.set(Request.requestedAt, this.now());
        },
        answered: (value, again) => {
          isAnswered = true;
          if (again !== undefined) askAgain = again;
          answer = readAnswer(value);
          if (answer === LOST) Atomics.store(words, Word.sampleLost, 1);
        },
        unreachable: (reason) => {
          // The inspector says this of a session that was closed before, too.
          if (!isFinished) this.#lose(reason);
          isAnswered = true;
        },
        ended: () => {
          if (isFinished) return;
          this.#lose('the inspector does not find this thread');
          // The thread was terminated, which it could not tell.
          Atomics.store(words, Word.closing, 1);
          isAnswered = true;
        },
      });
      let found = await answered(POLL_MILLIS);
      for (let i = 0; i < repeats && isBare(found) && !isOver() && !this.#mayNotSample; i++) {
        isAnswered = false;
        answer = undefined;
        request.values[Request.isRepeat] = 1;
        request.set(Request.requestedAt, Number.NaN);
        askAgain();
        const repeated = await answered(REPEAT_MILLIS);
        if (repeated !== BARE) found = repeated;
      }
      return found;
    } finally {
      isFinished = true;
      session.close();
    }
  }

  #pauseRequests(): void {
    this.#pausedUntil = this.now() + this.#pause;
    this.#pause = Math.min(MAX_UNREACHED_PAUSE_MILLIS, 2 * this.#pause);
  }

  get #mayNotSample(): boolean {
    const { memory, route } = this;
    return memory.isSet(Word.held) || memory.isSet(Word.closing) || route.isClosing;
  }

  #isOpened(session: CaptureSession): boolean {
    try {
      return session.open();
    } catch (error) {
      this.#lose(error instanceof Error ? error.message : String(error));
      return false;
    }
  }

  #lose(reason: string): void {
    this.#isLost = true;
    this.post({ type: 'no-capture', reason });
  }
}

/** True if the sample shows no code. */
function isBare(answer: Answer | undefined): boolean {
  return answer === BARE || (typeof answer === 'object' && !answer.isCodeKnown);
}

function readAnswer(value: unknown): Answer | undefined {
  if (typeof value !== 'string') return undefined;
  return value.startsWith('{') ? JSON.parse(value) : (value as Answer);
}

/** Some builds of Node.js have no inspector, so it is not imported. */
function loadInspector(): InspectorModule | undefined {
  try {
    return require('node:inspector') as InspectorModule;
  } catch {
    return undefined;
  }
}
