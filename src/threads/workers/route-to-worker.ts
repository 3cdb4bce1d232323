/**
 * How a worker thread is asked for a stack sample: a session leads to the main thread, and from
 * there to a worker by the domain `NodeWorker`. Watchdog thread only.
 */
import type { Session } from 'node:inspector';
import {
  answerIn,
  type CaptureRoute,
  type EvaluationResult,
  evaluation,
  type SampleRequest,
} from '../../core/sample/capture-session.ts';
import { ProcessWord } from '../../core/sample/shared-memory.ts';

interface Answer {
  readonly id: number;
  readonly error?: { readonly message: string };
  readonly result?: EvaluationResult;
}

/** The domain is not in the types of every version. */
export interface WorkerDomain {
  on(
    event: 'NodeWorker.attachedToWorker',
    listener: (event: { params: { sessionId: string; workerInfo: { title: string } } }) => void,
  ): void;
  on(
    event: 'NodeWorker.receivedMessageFromWorker' | 'NodeWorker.detachedFromWorker',
    listener: (event: { params: { sessionId: string; message: string } }) => void,
  ): void;
  post(method: string, params: object, done?: (error: Error | null) => void): void;
}

/** A worker as the domain describes it. Its ids are those of the session. */
export const isTitleOf = (title: string, threadId: number) =>
  title === `[worker ${threadId}]` || title.startsWith(`[worker ${threadId}] `);

/**
 * V8 ends what runs: the text is the same in Node.js 20 to 26. On Node.js 20 it answers with an
 * internal error if it does not begin to evaluate at all.
 */
const isTermination = (error: Answer['error']) =>
  error !== undefined && /Execution was terminated|Internal error/.test(error.message);

/** Counts the sessions to the main thread, whose exit waits for them. */
export class OpenSessions {
  constructor(private readonly words: Int32Array) {}

  /** Call it before a session is opened. False if none may be. */
  enter(): boolean {
    Atomics.add(this.words, ProcessWord.openSessions, 1);
    if (!this.isClosing) return true;
    this.leave();
    return false;
  }

  leave(): void {
    Atomics.sub(this.words, ProcessWord.openSessions, 1);
    Atomics.notify(this.words, ProcessWord.openSessions);
  }

  get isClosing(): boolean {
    return Atomics.load(this.words, ProcessWord.closing) === 1;
  }
}

/**
 * The domain attaches to every worker of the process. An attached session neither pauses nor keeps
 * a thread alive, and those of other threads are detached as soon as they are announced.
 */
export class RouteToWorker extends OpenSessions implements CaptureRoute {
  readonly isIndirect = true;

  constructor(
    private readonly threadId: number,
    words: Int32Array,
  ) {
    super(words);
  }

  request(session: Session, request: SampleRequest): void {
    const workers = session as unknown as WorkerDomain;
    let target: string | undefined;
    let id = 0;
    let askedId: number;
    let done: (error: Answer['error'], value: unknown) => void;
    const fail = () => request.answered(undefined);
    const send = (method: string, params: object, sent = () => {}) =>
      workers.post(
        'NodeWorker.sendMessageToWorker',
        { sessionId: target, message: JSON.stringify({ id: ++id, method, params }) },
        (error) => (error ? fail() : sent()),
      );
    const evaluate = (expression: string, sent: () => void, answered: typeof done) => {
      done = answered;
      send('Runtime.evaluate', evaluation(expression), sent);
      askedId = id;
    };
    const ask = () =>
      evaluate(request.expression, request.asked, (error, value) => {
        // `worker.terminate()` has ended the sample only, and what it is to end would run forever.
        if (isTermination(error)) send('Runtime.terminateExecution', {});
        request.answered(value, ask);
      });
    workers.on('NodeWorker.attachedToWorker', ({ params: { sessionId, workerInfo } }) => {
      if (!isTitleOf(workerInfo.title, this.threadId)) {
        workers.post('NodeWorker.detach', { sessionId });
        return;
      }
      target = sessionId;
      ask();
    });
    workers.on('NodeWorker.receivedMessageFromWorker', ({ params: { sessionId, message } }) => {
      if (sessionId !== target) return;
      const { id: answeredId, error, result } = JSON.parse(message) as Answer;
      if (answeredId === askedId) done(error, answerIn(result));
    });
    // The thread has ended.
    workers.on('NodeWorker.detachedFromWorker', ({ params: { sessionId } }) => {
      if (sessionId === target) fail();
    });
    workers.post('NodeWorker.enable', { waitForDebuggerOnStart: false }, (error) => {
      if (error) request.unreachable(error.message);
      else if (target === undefined) request.ended();
    });
  }
}
