/**
 * How the watched thread is asked. A session leads to the main thread; see
 * `workers/route-to-worker.ts` for other threads. Watchdog thread only.
 */
import type { Runtime, Session } from 'node:inspector';
import { LOST } from './protocol.ts';
import type { Commands } from './termination.ts';

export interface Request {
  readonly expression: string;
  /** See `termination.ts`. */
  readonly question: string;
  /** It is on its way to the watched thread, and nothing else delays it any more. */
  asked(): void;
  answered(value: unknown): void;
  /** V8 has ended the sample half-way. */
  terminated(commands: Commands): void;
  /** The watched thread cannot be reached by the inspector. */
  unreachable(reason: string): void;
  /** There is no such thread any more, as far as the inspector knows. */
  ended(): void;
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

export interface EvaluationResult {
  readonly result?: { readonly value?: unknown };
  readonly exceptionDetails?: unknown;
}

export const evaluation = (expression: string): Runtime.EvaluateParameterType => ({
  expression,
  returnByValue: true,
  silent: true,
});

/** What the expression came to. {@link LOST}: it threw, before its own `try`. */
export function answerIn(response: EvaluationResult | undefined): unknown {
  return response?.exceptionDetails === undefined ? response?.result?.value : LOST;
}

export const TO_MAIN_THREAD: CaptureRoute = {
  isIndirect: false,
  isClosing: false,
  enter: () => true,
  request(session, { expression, question, asked, answered, terminated, unreachable }) {
    const commands: Commands = {
      ask: (done) =>
        session.post('Runtime.evaluate', evaluation(question), (error, response) =>
          done(error !== null, answerIn(response)),
        ),
      terminate(queued) {
        session.post('Runtime.terminateExecution');
        queued();
      },
    };
    asked();
    session.post('Runtime.evaluate', evaluation(expression), (error, response) => {
      if (isCommandUnknown(error)) unreachable('the inspector of this runtime cannot evaluate');
      else if (error) isTermination(error) ? terminated(commands) : answered(undefined);
      else answered(answerIn(response));
    });
  },
  leave() {},
};

/** The same text in Node.js 20 to 26. */
export const isTermination = ({ message }: { readonly message: string }) =>
  message.includes('Execution was terminated');

/** Bun has the class and not the command. The code is that of JSON-RPC: method not found. */
const isCommandUnknown = (error: Error | null) => error?.message.includes('-32601') === true;
