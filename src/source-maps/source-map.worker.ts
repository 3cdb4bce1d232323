/**
 * The thread that reads and decodes source maps, and what it and the main thread send each other.
 * It is started and ended by `source-map-thread.ts`: then its memory is free again.
 */
import { type MessagePort, workerData } from 'node:worker_threads';
import { MapFiles, type MapProblem } from './map-files.ts';
import type { GeneratedPosition, SourcePosition } from './position.ts';

export interface SourceMapThreadData {
  readonly port: MessagePort;
  /** One number: how many requests have been answered. The main thread may wait for a change. */
  readonly answers: Int32Array;
  /** The process has a permission model, which does not apply in the thread. */
  readonly onlyBeside: boolean;
}

export interface SourceMapRequest {
  readonly id: number;
  readonly positions: readonly GeneratedPosition[];
}

export interface SourceMapAnswer {
  readonly id: number;
  readonly asked: readonly GeneratedPosition[];
  readonly found: readonly (SourcePosition | undefined)[];
  /** Files whose map cannot be used. */
  readonly problems: readonly { readonly problem: MapProblem; readonly file: string }[];
}

const { port, answers, onlyBeside } = workerData as SourceMapThreadData;
let problems: SourceMapAnswer['problems'][number][] = [];
const files = new MapFiles((problem, file) => problems.push({ problem, file }), { onlyBeside });

port.on('message', ({ id, positions }: SourceMapRequest) => {
  const found = positions.map((position) => files.find(position));
  port.postMessage({ id, asked: positions, found, problems } satisfies SourceMapAnswer);
  problems = [];
  Atomics.add(answers, 0, 1);
  Atomics.notify(answers, 0);
});
