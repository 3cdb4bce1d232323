/**
 * What the main thread and the health server's thread exchange. A main thread that is blocked is
 * asked for nothing: what it wrote on the latest beat of its lag timer is read. Times are
 * milliseconds, those of a beat by the main thread's `performance.now()`.
 */
import { SharedRecords } from '../../core/sample/shared-records.ts';
import type { HealthServerConfig } from '../../types.ts';

/** Index of a number. All belong to one beat. */
export const Beat = {
  /** When the next beat is due. While the loop turns, it comes then. */
  due: 0,
  /** CPU time that the main thread had used by the latest beat; of the process if that is all. */
  ran: 1,
  /** For how long it had waited for a CPU by then; NaN if that is not known. */
  waitedForCpu: 2,
  /** For how long the watchdog thread had seen the process stopped by then. */
  stopped: 3,
  /** 1 while a debugger can be attached. */
  inspected: 4,
} as const;
const NUMBERS = Object.keys(Beat).length;

export function createBeatMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT * SharedRecords.wordsOf(NUMBERS));
}

export const beatIn = (memory: SharedArrayBuffer) =>
  new SharedRecords(new Int32Array(memory), NUMBERS);

export function processCpuMillis(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Given to the thread when it starts. */
export interface HealthServerData extends Required<HealthServerConfig> {
  /** The buffers that both threads share. */
  readonly memory: {
    readonly beat: SharedArrayBuffer;
    /** The samples of the lag, as `health()` reads them. */
    readonly lag: Int32Array;
    /** The buffer of a `SharedMemory`; undefined without a watchdog thread. */
    readonly watchdog: SharedArrayBuffer | undefined;
  };
  /** See `clock-origin.ts`: that of the main thread. */
  readonly clockOrigin: number;
  readonly thresholdMillis: number;
  readonly lagIntervalMillis: number;
}

/** Message of the thread: it cannot listen. */
export interface HealthServerFailure {
  /** It ends; otherwise the port is in use, and it tries again. */
  readonly isOff: boolean;
  readonly reason: string;
}
