/**
 * The thread that reads and decodes source maps, and what it and the main thread send each other.
 * It ends when nobody has asked for a while: then its memory is free again.
 */
import { type MessagePort, workerData } from 'node:worker_threads';
import { setTimeout } from '../support/time.ts';
import { MapFiles } from './map-files.ts';
import type { GeneratedPosition, SourcePositionList } from './position.ts';

export interface SourceMapThreadData {
  readonly port: MessagePort;
  /** One number: how many requests have been answered. The main thread may wait for a change. */
  readonly answers: Int32Array;
  readonly idleMillis: number;
}

export interface SourceMapAnswer {
  readonly id: number;
  readonly asked: readonly GeneratedPosition[];
  readonly found: SourcePositionList;
  /** Files without a map, or whose map cannot be used, and why. */
  readonly problems: readonly (readonly [file: string, reason: string | undefined])[];
}

const { port, answers, idleMillis } = workerData as SourceMapThreadData;
let problems: SourceMapAnswer['problems'][number][] = [];
const files = new MapFiles((...its) => problems.push(its));
/** It is started by a request, and idles from the first answer on. */
let idle: NodeJS.Timeout | undefined;

port.on('message', ({ id, asked }: Pick<SourceMapAnswer, 'id' | 'asked'>) => {
  const found = asked.map((position) => files.find(position));
  port.postMessage({ id, asked, found, problems } satisfies SourceMapAnswer);
  problems = [];
  Atomics.add(answers, 0, 1);
  Atomics.notify(answers, 0);
  idle ??= setTimeout(() => port.close(), idleMillis);
  idle.refresh();
});
