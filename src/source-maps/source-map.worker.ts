/**
 * The thread that reads and decodes source maps. Started by `source-positions.ts` when a block is
 * to be reported, bundled into a string, and ended by it when nothing was asked for a while: then
 * its memory is free again.
 */
import { workerData } from 'node:worker_threads';
import { DEFAULT_LIMITS, MapFiles } from './map-files.ts';
import type { SourceMapAnswer, SourceMapRequest, SourceMapThreadData } from './thread-protocol.ts';

const { port, answers, onlyBeside } = workerData as SourceMapThreadData;
let problems: SourceMapAnswer['problems'][number][] = [];
const files = new MapFiles((problem, file) => problems.push({ problem, file }), {
  ...DEFAULT_LIMITS,
  onlyBeside,
});

port.on('message', ({ id, positions }: SourceMapRequest) => {
  const found = positions.map((position) => files.find(position));
  const unmapped = [...new Set(positions.map(({ file }) => file))].filter(
    (file) => !files.has(file),
  );
  port.postMessage({ id, asked: positions, found, unmapped, problems } satisfies SourceMapAnswer);
  problems = [];
  Atomics.add(answers, 0, 1);
  Atomics.notify(answers, 0);
});
