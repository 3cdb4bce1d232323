/**
 * The thread that explains blocks: it reads code, decodes source maps, and names. It ends when
 * nobody has asked for a while: then its memory is free again.
 */
import { workerData } from 'node:worker_threads';
import { allowReading } from '../../support/reading.ts';
import { Schedstat } from '../../support/schedstat.ts';
import { setTimeout } from '../../support/time.ts';
import { explain } from './explain.ts';
import { createOriginOf, type Origin } from './name/in-app.ts';
import type { ExplainThreadData, Reply, Request } from './protocol.ts';
import { MapFiles } from './source-maps/map-files.ts';
import type {
  GeneratedPosition,
  SourcePosition,
  SourcePositionList,
} from './source-maps/position.ts';

/** Those of some 100 blocks. */
const MAX_KNOWN_POSITIONS = 5000;

const { port, sent, idleMillis, mayRead, origin, asksOrigins, cwd, hasMaps, isRecorded } =
  workerData as ExplainThreadData;
if (mayRead) allowReading();
const originOf = createOriginOf(origin);
const schedstat = new Schedstat();
schedstat.start();
let problems: (readonly [file: string, reason: string])[] = [];
const maps = new MapFiles((file, reason) => {
  if (reason !== undefined) problems.push([file, reason]);
});
/** The main thread answers one question of a block after the other. */
const answers = new Map<number, (answer: never) => void>();
/** It is started by a request, and idles from the first answer on. */
let idle: NodeJS.Timeout | undefined;

function send(reply: Reply): void {
  port.postMessage(reply);
  Atomics.add(sent, 0, 1);
  Atomics.notify(sent, 0);
}

const ask = <Answer>(question: Extract<Reply, { of: unknown }>) =>
  new Promise<Answer>((resolve) => {
    answers.set(question.id, resolve);
    send(question);
  });

/** The loader's maps are on the main thread, where a position is asked for once. */
const byLoader = new Map<string, SourcePosition | undefined>();
const keyOf = ({ file, line, column }: GeneratedPosition) => `${file}:${line}:${column}`;

async function askLoader(
  id: number,
  positions: readonly GeneratedPosition[],
): Promise<SourcePositionList> {
  const of = positions.filter((position) => !byLoader.has(keyOf(position)));
  const answer = of.length === 0 ? [] : await ask<SourcePositionList>({ type: 'loader', id, of });
  if (byLoader.size > MAX_KNOWN_POSITIONS) byLoader.clear();
  of.forEach((position, i) => {
    byLoader.set(keyOf(position), answer[i]);
  });
  return positions.map((position) => byLoader.get(keyOf(position)));
}

async function answer({ id, block, hasLoader, unsafe }: Extract<Request, { type: 'block' }>) {
  const options = {
    cwd,
    originOf,
    hasMaps: hasMaps && mayRead,
    isRecorded,
    unsafe: new Set(unsafe),
    find: maps.find.bind(maps),
  };
  const explanation = await explain(block, options, {
    loader: hasLoader ? (of) => askLoader(id, of) : undefined,
    origins: asksOrigins ? (of) => ask<Origin[]>({ type: 'origins', id, of }) : undefined,
  });
  const ranMillis = schedstat.read() ? schedstat.ran : Number.NaN;
  send({ type: 'explanation', id, explanation, ranMillis, problems });
  problems = [];
  idle ??= setTimeout(() => port.close(), idleMillis);
  idle.refresh();
}

/** One block after the other. */
let latest = Promise.resolve();

port.on('message', (request: Request) => {
  if (request.type === 'block') {
    latest = latest.then(() => answer(request));
    return;
  }
  const resolve = answers.get(request.id);
  answers.delete(request.id);
  resolve?.(request.answer as never);
});
