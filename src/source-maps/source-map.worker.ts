/**
 * The thread that reads code and decodes source maps, and what it and the main thread send each
 * other. It ends when nobody has asked for a while: then its memory is free again.
 */
import { type MessagePort, workerData } from 'node:worker_threads';
import { passesOn } from '../name/continuation.ts';
import { dependenciesOf } from '../name/packages.ts';
import { setTimeout } from '../support/time.ts';
import { transformedPositions } from './loaded-text.ts';
import { MapFiles } from './map-files.ts';
import type { GeneratedPosition, SourcePositionList } from './position.ts';

export interface SourceMapThreadData {
  readonly port: MessagePort;
  /** One number: how many requests have been answered. The main thread may wait for a change. */
  readonly answers: Int32Array;
  readonly idleMillis: number;
}

export interface Question {
  readonly id: number;
  /** Their place in the source is wanted. */
  readonly positions: readonly GeneratedPosition[];
  /** Whether maps of files are looked for. */
  readonly hasMaps: boolean;
  /** Of functions, of which it is wanted whether they pass on; so it is of `positions`. */
  readonly calls: readonly GeneratedPosition[];
  /** Packages whose dependencies are wanted. */
  readonly folders: readonly string[];
}

/** Lists are in the order of what was asked for. */
export interface Answer {
  readonly id: number;
  readonly found: SourcePositionList;
  /** Indexes of positions in code that a loader made. */
  readonly transformed: readonly number[];
  /** Of `positions`, then of `calls`; undefined for the start of a function. */
  readonly passesOn: readonly (boolean | undefined)[];
  readonly dependencies: readonly (readonly string[] | undefined)[];
  /** Files without a map, or whose map cannot be used, and why. */
  readonly problems: readonly (readonly [file: string, reason: string | undefined])[];
}

const { port, answers, idleMillis } = workerData as SourceMapThreadData;
let problems: Answer['problems'][number][] = [];
const files = new MapFiles((...its) => problems.push(its));
/** It is started by a request, and idles from the first answer on. */
let idle: NodeJS.Timeout | undefined;

port.on('message', ({ id, positions, hasMaps, calls, folders }: Question) => {
  const transformed = transformedPositions(positions);
  port.postMessage({
    id,
    found: hasMaps ? positions.map((position) => files.find(position)) : [],
    transformed: positions.flatMap((position, i) => (transformed.has(position) ? [i] : [])),
    passesOn: [
      ...positions.map((each) => (each.functionLine === undefined ? undefined : passesOn(each))),
      ...calls.map(passesOn),
    ],
    dependencies: folders.map(dependenciesOf),
    problems,
  } satisfies Answer);
  problems = [];
  Atomics.add(answers, 0, 1);
  Atomics.notify(answers, 0);
  idle ??= setTimeout(() => port.close(), idleMillis);
  idle.refresh();
});
