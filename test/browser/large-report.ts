/** A report as large as one may be: 10 000 blocks with 100 000 stack samples, 2000 requests. */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { ReportBlock, ReportDocument } from '../../src/outputs/html-report/document.ts';
import { ReportRecorder } from '../../src/outputs/html-report/recorder.ts';
import { SourceLines } from '../../src/outputs/html-report/source-lines.ts';
import { functionKeyOf } from '../../src/outputs/summary/requests.ts';
import type { EventLoopBlock } from '../../src/types.ts';

const BLOCKS = 10_000;
const SAMPLES = 10;
const START = 1_790_000_000_000;
const FUNCTIONS = 40;
const DEPTH = 20;

/** Always the same numbers, 0 to 1: https://en.wikipedia.org/wiki/Linear_congruential_generator */
function random(): () => number {
  let state = 1;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}

const nameOf = (fn: number) => `Service${fn}.computeAll${fn}`;
const fileOf = (fn: number, folder: string) => `${folder}/module-${fn}/service.js`;
const SOURCE = '  const total = rows.reduce((sum, row) => sum + row.amount, 0);\n'.repeat(1000);

/** @param folder for its source files, of 64 kB each */
export function largeRecorder(folder: string): ReportRecorder {
  const next = random();
  const recorder = new ReportRecorder();
  recorder.sourceLines = new SourceLines(Number.POSITIVE_INFINITY);
  for (let fn = 0; fn < FUNCTIONS; fn++) {
    mkdirSync(path.dirname(fileOf(fn, folder)), { recursive: true });
    writeFileSync(fileOf(fn, folder), SOURCE);
  }
  recorder.thresholdMillis = 20;
  recorder.times.start();
  recorder.times.stop();
  let time = START;
  for (let i = 0; i < BLOCKS; i++) {
    const fn = Math.floor(next() ** 2 * FUNCTIONS);
    const block: EventLoopBlock = {
      kind: 'callback',
      startTimeMillis: time,
      durationMillis: 20 + next() * 200,
      callbacks: 1,
      asyncResourceType: 'HTTPINCOMINGMESSAGE',
      cause: next() < 0.8 ? 'javascript' : 'native',
      cpuTimeMillis: 15 + next() * 200,
      gcTimeMillis: next() * 9,
      nativeTimeMillis: next() * 9,
      stalledSpans: Math.floor(next() * 20),
      queuedSpans: Math.floor(next() * 9),
      samples: SAMPLES,
      code: {
        functionName: nameOf(fn),
        file: fileOf(fn, folder),
        line: 10 + fn,
        column: 7,
        functionLine: 5,
        functionColumn: 3,
        stackTrace: '',
      },
    };
    const stacks = Array.from({ length: SAMPLES }, () => ({
      millis: block.durationMillis / SAMPLES,
      frames: Array.from({ length: DEPTH }, (_, depth) => {
        const of = depth < 3 ? Math.floor(next() * 6) * FUNCTIONS + fn : fn;
        const place = { file: fileOf(of, folder), line: 10 + depth, functionLine: 5 };
        return { name: nameOf(of), ...place, inApp: true as const };
      }),
    }));
    const operation = `GET /api/v1/resource-${fn}`;
    const traceId = Math.floor(next() * 1e15)
      .toString(16)
      .padStart(32, '0');
    recorder.sourceLines.add(stacks);
    recorder.block(block, { operation, traceId }, stacks);
    if (i % 2 === 0) {
      recorder.request({
        route: `GET /api/v1/victims-${fn}`,
        traceId,
        startTimeMillis: time - 20,
        durationMillis: block.durationMillis + 40,
        stalledMillis: block.durationMillis,
        queuedMillis: 0,
        functions: [
          {
            key: functionKeyOf(block.code),
            ...(block.code && { code: block.code }),
            stalledMillis: block.durationMillis,
            queuedMillis: 0,
          },
        ],
        waits: () => [{ block, millis: block.durationMillis }],
      });
    }
    time += block.durationMillis + 30 + next() * 100;
  }
  return recorder;
}

/** With a timeline for the whole of it. */
export function largeReport(recorder: ReportRecorder): ReportDocument {
  const report = recorder.read();
  const { startTimeMillis } = report.blocks[0] as ReportBlock;
  const endTimeMillis = (report.blocks.at(-1) as ReportBlock).startTimeMillis + 1000;
  const slots = 2048;
  const lags = Array.from({ length: slots }, (_, i) => Math.round(100 + 100 * Math.sin(i)));
  return {
    ...report,
    startTimeMillis,
    endTimeMillis,
    timeline: {
      startTimeMillis,
      slotMillis: (endTimeMillis - startTimeMillis) / slots,
      lagMillis: lags,
      maxLagMillis: lags,
      utilization: lags.map((lag) => lag / 200),
    },
  };
}
