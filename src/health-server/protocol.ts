/** What the main thread and the health server's thread exchange, beside the shared memory. */
import type { OriginOptions } from '../name/in-app.ts';
import type { HealthServerConfig } from '../types.ts';
import type { HealthServerMemory } from './beat-memory.ts';

/** Given to the thread when it starts. Times are milliseconds. */
export interface HealthServerData extends Required<HealthServerConfig> {
  readonly memory: HealthServerMemory;
  /** See `clock-origin.ts`: that of the main thread. */
  readonly clockOrigin: number;
  readonly thresholdMillis: number;
  readonly lagIntervalMillis: number;
  /** Which code is the application's own; not by a function of the application. */
  readonly origin: OriginOptions;
  /** Files may run as something else than their text. */
  readonly hasLoader: boolean;
}

/** Message of the thread: it cannot listen. */
export interface HealthServerFailure {
  /** It ends; otherwise the port is in use, and it tries again. */
  readonly isOff: boolean;
  readonly reason: string;
}
