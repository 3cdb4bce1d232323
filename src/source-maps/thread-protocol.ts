/** What the main thread and the source map thread send each other. */
import type { MessagePort } from 'node:worker_threads';
import type { MapProblem } from './map-files.ts';
import type { CodePosition, SourcePosition } from './position.ts';

export interface SourceMapThreadData {
  readonly port: MessagePort;
  /**
   * One number: how many requests have been answered. A thread that waits for an answer waits for
   * it to change.
   */
  readonly answers: Int32Array;
  /** The process has a permission model, which does not apply in the thread. */
  readonly onlyBeside: boolean;
}

export interface SourceMapRequest {
  readonly id: number;
  readonly positions: readonly CodePosition[];
}

export interface SourceMapAnswer {
  readonly id: number;
  readonly asked: readonly CodePosition[];
  readonly found: readonly (SourcePosition | undefined)[];
  /** Files of the request that have no map. */
  readonly unmapped: readonly string[];
  readonly problems: readonly { readonly problem: MapProblem; readonly file: string }[];
}
