/** What the main thread and the thread that explains send each other. */
import type { MessagePort } from 'node:worker_threads';
import type { Explanation } from './explain.ts';
import type { Origin, OriginOptions } from './name/in-app.ts';
import type { RecordedBlock } from './recorded.ts';
import type { GeneratedPosition, SourcePositionList } from './source-maps/position.ts';

export interface ExplainThreadData {
  readonly port: MessagePort;
  /** One number: how many messages were sent. The main thread may wait for a change. */
  readonly sent: Int32Array;
  /** A thread that was asked for nothing so long ends. */
  readonly idleMillis: number;
  /** Without, what files say is not known: a permission model holds for no thread. */
  readonly mayRead: boolean;
  readonly origin: OriginOptions;
  /** A function as the option `inApp` has to be asked. */
  readonly asksOrigins: boolean;
  readonly cwd: string;
  /** Whether source maps are looked for. */
  readonly hasMaps: boolean;
  /** Blocks are recorded. */
  readonly isRecorded: boolean;
}

/** Of the main thread. */
export type Request =
  | {
      readonly type: 'block';
      readonly id: number;
      readonly block: RecordedBlock;
      /** Files may run as something else than their text, and the loader may have their maps. */
      readonly hasLoader: boolean;
      /** Files that are not opened: one of them has ended the thread. */
      readonly unsafe: readonly string[];
    }
  | {
      readonly type: 'answer';
      readonly id: number;
      readonly answer: SourcePositionList | Origin[];
    };

/** Of the thread. */
export type Reply =
  | {
      readonly type: 'explanation';
      readonly id: number;
      readonly explanation: Explanation;
      /** How many milliseconds the thread has run so far; NaN if that is not known. */
      readonly ranMillis: number;
      /** Files with a map that cannot be used, and why. */
      readonly problems: readonly (readonly [file: string, reason: string])[];
    }
  | { readonly type: 'loader'; readonly id: number; readonly of: readonly GeneratedPosition[] }
  | { readonly type: 'origins'; readonly id: number; readonly of: readonly string[] };
