/** The blocks of a test as a table in the summary of a GitHub job: opt-in, and never throws. */
import { appendFileSync, statSync } from 'node:fs';
import { keyOf } from '../name/key.ts';
import { duration } from '../report/block-line.ts';
import { codeCells, row } from '../summary/markdown-cells.ts';
import { attempt } from '../support/guard.ts';
import type { CodePlace } from '../types.ts';
import type { Baseline } from './baseline.ts';
import type { RecordedBlock, Verdict } from './known-blocks.ts';

/** GitHub shows at most 1 MiB of a step, and nothing of a longer summary. */
const MAX_BYTES = 512 * 1024;
/** Places that are listed of a test. */
const MAX_ROWS = 20;
const HEADER = [
  '| change | longest | known | blocks | cause | function | place |',
  '| ------ | ------: | ----: | -----: | ----- | -------- | ----- |',
];
const CHANGES = ['new', 'longer', '', 'gone'];

interface Row {
  change: string;
  readonly millis?: number | undefined;
  readonly knownMillis?: number | undefined;
  blocks: number;
  readonly cause?: string | undefined;
  readonly code: Partial<CodePlace>;
}

/** Appends a table to the file that GitHub names, unless nothing blocked and nothing is gone. */
export function appendToJobSummary(
  name: string,
  recorded: readonly RecordedBlock[],
  baseline?: Baseline,
  verdict?: Verdict,
): void {
  attempt(() => {
    const { GITHUB_STEP_SUMMARY: file = '' } = process.env;
    const rows = rowsOf(recorded, baseline, verdict);
    if (file === '' || rows.length === 0) return;
    const title = `### Event loop blocked in ${codeCells({ functionName: name }, '')[0]}`;
    const table = [...HEADER, ...rows.slice(0, MAX_ROWS).map(cellsOf)];
    const text = `${[title, '', ...table].join('\n')}\n\n`;
    const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
    if (size + Buffer.byteLength(text) <= MAX_BYTES) appendFileSync(file, text);
  });
}

/** One for each place that blocked, and for each difference to the baseline. */
function rowsOf(
  recorded: readonly RecordedBlock[],
  baseline: Baseline | undefined,
  verdict: Verdict | undefined,
): Row[] {
  const rows = new Map<string, Row>();
  for (const { block, atLeastMillis: millis } of recorded) {
    const { code, cause } = block;
    const place = baseline?.placeOf(code) ?? (code === undefined ? '' : keyOf(code));
    const row = rows.get(place) ?? { change: '', millis: 0, blocks: 0, code: {} };
    row.blocks++;
    const knownMillis = verdict?.known.get(place);
    const isLongest = millis > (row.millis ?? 0);
    rows.set(place, isLongest ? { ...row, millis, knownMillis, cause, code: code ?? {} } : row);
  }
  for (const { place, ...difference } of verdict?.differences ?? []) {
    const row = rows.get(place) ?? { blocks: 0, code: { functionName: place }, ...difference };
    rows.set(place, { ...row, change: difference.change });
  }
  const orderOf = ({ change }: Row) => CHANGES.indexOf(change);
  return [...rows.values()].sort(
    (a, b) => orderOf(a) - orderOf(b) || (b.millis ?? 0) - (a.millis ?? 0),
  );
}

function cellsOf({ change, millis, knownMillis, blocks, cause = '', code }: Row): string {
  const lengths = [millis, knownMillis].map((one) => (one === undefined ? '' : duration(one)));
  const count = blocks === 0 ? '' : blocks;
  const shownCause = cause === 'javascript' ? '' : cause;
  return row([change, ...lengths, count, shownCause, ...codeCells(code, process.cwd())]);
}
