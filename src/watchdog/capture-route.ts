/**
 * How the watched thread is asked: a session leads to the main thread only, and from there to a
 * worker, by the domain `NodeWorker`. Watchdog thread only.
 */
import type { Runtime, Session } from 'node:inspector';
import { MainExit } from './main-exit.ts';

export interface Request {
  readonly expression: string;
  /** It is on its way to the watched thread, and nothing else delays it any more. */
  asked(): void;
  answered(value: unknown): void;
  /** The watched thread cannot be reached by the inspector. */
  unreachable(reason: string): void;
  /** Whether a debugger can be attached to the process, where that thread cannot know it. */
  inspected(isInspected: boolean): void;
}

/** The way to one thread. */
export interface CaptureRoute {
  /** Called before a session is opened; false where the process exits. */
  enter(): boolean;
  request(session: Session, request: Request): void;
  /** Called after the session is closed. */
  leave(): void;
  /** Whether other threads can delay a request. */
  readonly isIndirect: boolean;
  readonly isClosing: boolean;
}

const evaluation = (expression: string): Runtime.EvaluateParameterType => ({
  expression,
  returnByValue: true,
  silent: true,
});

export const TO_MAIN_THREAD: CaptureRoute = {
  isIndirect: false,
  isClosing: false,
  enter: () => true,
  request(session, { expression, asked, answered, unreachable }) {
    asked();
    session.post('Runtime.evaluate', evaluation(expression), (error, response) => {
      if (isCommandUnknown(error)) unreachable('the inspector of this runtime cannot evaluate');
      else answered(error ? undefined : response?.result?.value);
    });
  },
  leave() {},
};

/** Bun has the class and not the command. The code is that of JSON-RPC: method not found. */
const isCommandUnknown = (error: Error | null) => error?.message.includes('-32601') === true;

interface AttachedToWorker {
  readonly params: { readonly sessionId: string; readonly workerInfo: { readonly title: string } };
}

interface FromWorker {
  readonly params: { readonly sessionId: string; readonly message: string };
}

interface Command {
  readonly id: number;
  readonly method: string;
  readonly params?: object;
}

interface Answer {
  readonly id: number;
  readonly error?: object;
  readonly result?: { readonly result?: { readonly value?: unknown } };
}

const Id = { request: 1, isRunning: 2, terminate: 3 } as const;

const evaluate = (id: number, expression: string): Command => ({
  id,
  method: 'Runtime.evaluate',
  params: evaluation(expression),
});

/**
 * Where `terminate()` falls into an evaluation, V8 ends the evaluation and nothing else: a worker
 * that never yields would run for ever. What Node.js does not run any more is terminated again.
 */
const IS_RUNNING = `process.getBuiltinModule('node:vm').runInThisContext('1') === 1`;

/** The domain is not in the types of every version. */
interface WorkerDomain {
  on(event: 'NodeWorker.attachedToWorker', listener: (event: AttachedToWorker) => void): void;
  on(
    event: 'NodeWorker.receivedMessageFromWorker' | 'NodeWorker.detachedFromWorker',
    listener: (event: FromWorker) => void,
  ): void;
  post(method: string, params: object, done?: (error: Error | null) => void): void;
}

/**
 * The domain attaches to every worker of the process. An attached session neither pauses nor keeps
 * a thread alive, and those of other threads are detached as soon as they are announced.
 */
export class RouteToWorker implements CaptureRoute {
  readonly isIndirect = true;
  readonly #exit = new MainExit();
  /** Of its `workerInfo` only this tells which thread it is: ids are those of the session. */
  readonly #title: string;

  constructor(threadId: number) {
    this.#title = `[worker ${threadId}]`;
  }

  get isClosing(): boolean {
    return this.#exit.isClosing;
  }

  enter(): boolean {
    return this.#exit.enter();
  }

  leave(): void {
    this.#exit.leave();
  }

  request(session: Session, request: Request): void {
    const workers = session as unknown as WorkerDomain;
    let target: string | undefined;
    const send = (command: Command, sent: (error: Error | null) => void) =>
      workers.post(
        'NodeWorker.sendMessageToWorker',
        { sessionId: target, message: JSON.stringify(command) },
        sent,
      );
    const fail = () => request.answered(undefined);
    const sent = (error: Error | null) => error && fail();
    workers.on('NodeWorker.attachedToWorker', ({ params: { sessionId, workerInfo } }) => {
      if (!this.#isTarget(workerInfo.title)) {
        workers.post('NodeWorker.detach', { sessionId });
        return;
      }
      target = sessionId;
      const asked = (error: Error | null) => (error ? fail() : request.asked());
      send(evaluate(Id.request, request.expression), asked);
    });
    workers.on('NodeWorker.receivedMessageFromWorker', ({ params: { sessionId, message } }) => {
      if (sessionId !== target) return;
      const { id, error, result } = JSON.parse(message) as Answer;
      if (id === Id.request && error === undefined) request.answered(result?.result?.value);
      else if (id === Id.request) send(evaluate(Id.isRunning, IS_RUNNING), sent);
      else if (result?.result?.value === true) fail();
      else send({ id: Id.terminate, method: 'Runtime.terminateExecution' }, fail);
    });
    // The thread has ended.
    workers.on('NodeWorker.detachedFromWorker', ({ params: { sessionId } }) => {
      if (sessionId === target) fail();
    });
    this.#exit.join(session, request.inspected);
    workers.post('NodeWorker.enable', { waitForDebuggerOnStart: false }, (error) => {
      if (error) request.unreachable(error.message);
      else if (target === undefined) request.unreachable('the inspector does not find this thread');
    });
  }

  #isTarget(title: string): boolean {
    return title === this.#title || title.startsWith(`${this.#title} `);
  }
}
