/** The watched thread and its watchdog thread exchange these, beside the shared memory. */
import type { CaptureTimes } from './capture-times.ts';

/** Given to the watchdog thread of a thread. Times are milliseconds. */
export interface WatchdogData extends CaptureTimes {
  /** The buffer of a `SharedMemory`. */
  readonly memory: SharedArrayBuffer;
  /** The watched thread's id; 0 is the main thread. */
  readonly threadId: number;
  /** Linux tells of the watched thread in here; undefined elsewhere. */
  readonly threadFolder: string | undefined;
  /** `process.hrtime()` when the watched thread's `performance.now()` was 0, in milliseconds. */
  readonly clockOrigin: number;
  /** Name of the channel over which a shared watchdog thread sends messages to the thread. */
  readonly channel: string;
  /** Is evaluated for a stack sample. */
  readonly expression: string;
  /** Age at which a block is reported while it lasts; 0: never. */
  readonly unfinishedAfterMillis: number;
  /** The part of the environment that exporters read. */
  readonly env: Record<string, string>;
  /** The watchdog thread passes this on to the report of ongoing blocks. */
  readonly ongoing: unknown;
}

/** The answer to a request that failed, for example without stack left for it. */
export const LOST = 'lost';
/** The answer if a stack sample was taken, and nothing else is asked for. */
export const TAKEN = 'taken';
/** The answer if a sample was taken that shows no code that a block can be named by. */
export const BARE = 'bare';

/**
 * The watched thread's answer, as JSON, while the report of an ongoing block is near: what the
 * watchdog thread itself needs of the block, and facts that it only passes on to the report.
 */
export interface CaptureReply {
  /** When the running block began: a time of that thread's `performance.now()`. */
  readonly start: number;
  /** Whether the facts name the code that runs. */
  readonly isCodeKnown: boolean;
  readonly facts: object;
}

/** A block that has not ended, as far as the watchdog thread knows it. */
export interface OngoingReport {
  /** Facts of the watched thread's latest answer; undefined if there was none. */
  readonly facts: object | undefined;
  /** When it is reported: a time of that thread's `performance.now()`. */
  readonly time: number;
  readonly ageMillis: number;
  /** Whether stack samples can be taken at all. */
  readonly canCapture: boolean;
}

/** Messages of the watchdog thread to a thread that it watches. */
export type WatchdogMessage =
  /** The watchdog thread watches, and can ask for stack samples. */
  | { readonly type: 'ready' }
  /** Stack samples cannot be taken: no inspector, or no permission for it. */
  | { readonly type: 'no-capture'; readonly reason: string };
