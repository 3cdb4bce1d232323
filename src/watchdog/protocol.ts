/** What the main thread and the watchdog tell each other, beside the shared memory. */
import type { BlockKind } from '../types.ts';
import type { CaptureTimes } from './capture-times.ts';
import type { SharedMemory } from './shared-memory.ts';

/** Given to the watchdog when it starts. Times are milliseconds. */
export interface WatchdogData extends CaptureTimes {
  readonly memory: SharedMemory;
  /** `process.hrtime()` of the moment at which the main thread's `performance.now()` was 0, in milliseconds. */
  readonly clockOrigin: number;
  /** Name of the diagnostics channel by which the main thread is asked for a capture. */
  readonly channel: string;
  /** Source URL of the code that is evaluated for a capture. */
  readonly captureUrl: string;
  /** Age of a stretch at which it is reported while it lasts; 0: never. */
  readonly unfinishedAfterMillis: number;
  /** Code of the thread that exports a report, and where to find the application's exporter. */
  readonly reporterCode: string;
  readonly resolveFrom: readonly string[];
}

/** What a capture answers: what is known of the block so far. Crosses the inspector as JSON. */
export interface CaptureReply {
  /** When the block began: a time of the main thread's `performance.now()`. */
  readonly start: number;
  /** Unix time in milliseconds of 0 on that clock. */
  readonly epochMillis: number;
  /** Unix time in milliseconds at which its span begins: not before its parent. */
  readonly startTimeMillis: number;
  readonly functionName?: string;
  readonly file?: string;
  readonly line?: number;
  readonly column?: number;
  readonly stackTrace?: string;
  readonly traceId?: string;
  readonly spanId?: string;
  readonly traceFlags?: number;
  /** Tracing is suppressed, or only spans with a parent are wanted and there is none: nothing is exported. */
  readonly spanUnwanted?: boolean;
  /** The thread stands in a debugger. */
  readonly debuggerPause?: boolean;
  /** What the span says without a stack. */
  readonly block: { readonly kind: BlockKind; readonly callbacks: number; readonly resourceType?: string };
  /** Attributes of the resource of the application's spans. */
  readonly resource?: Record<string, unknown>;
}

/** What the watchdog tells the main thread by message. */
export type WatchdogMessage =
  /** It watches, and can capture. */
  | { readonly type: 'ready' }
  /** Captures cannot be made: no inspector, or no permission for it. */
  | { readonly type: 'no-capture'; readonly reason: string };
