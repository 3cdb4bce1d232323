/** What the page shows, from the data that it embeds. */

import type {
  ReportBlock,
  ReportDocument,
  ReportRequest,
} from '../src/outputs/html-report/document.ts';
import type { PlaceSummary } from '../src/outputs/summary/summary.ts';
import type { CodePlace } from '../src/types.ts';

export interface Fn {
  /** Number of the first place that is of it; -1 for unknown code. */
  readonly key: number;
  name: string;
  readonly code: CodePlace | undefined;
  /** Number of its colour; the last one is that of all others. */
  color: number;
  readonly blocks: Block[];
}

export interface Block extends Omit<ReportBlock, 'code' | 'leaf'> {
  readonly number: number;
  /** Milliseconds since the run began. */
  readonly start: number;
  readonly end: number;
  /** No server listened yet. */
  readonly isStartUp: boolean;
  readonly fn: Fn;
  readonly code: CodePlace | undefined;
  readonly leaf: CodePlace | undefined;
  readonly stalled: { readonly request: Request; readonly millis: number }[];
}

export interface Request extends Omit<ReportRequest, 'waits'> {
  readonly start: number;
  readonly end: number;
  readonly waits: { readonly block: Block; readonly millis: number }[];
  row: number;
}

export const COLORS = 8;
const UNKNOWN = 'unknown code';
export const ANONYMOUS = '<anonymous>';

export class Model {
  readonly #fns = new Map<number, Fn>();
  readonly blocks: Block[];
  readonly requests: Request[] | undefined;
  readonly elapsed: number;

  constructor(readonly report: ReportDocument) {
    const { blocks, codes, startTimeMillis, endTimeMillis, requests, summary } = report;
    this.elapsed = Math.max(1, endTimeMillis - startTimeMillis);
    const startUpMillis = summary.startUp?.elapsedMillis ?? 0;
    this.blocks = blocks.map((block, number) => {
      const code = block.code === undefined ? undefined : codes[block.code];
      const fn = this.#fn(block.code);
      const start = block.startTimeMillis - startTimeMillis;
      const leaf = block.leaf === undefined ? undefined : codes[block.leaf];
      const own = {
        ...block,
        number,
        start,
        end: start + block.durationMillis,
        isStartUp: block.operation === undefined && start < startUpMillis,
        fn,
        code,
        leaf,
        stalled: [],
      };
      fn.blocks.push(own);
      return own;
    });
    const byStart = new Map(this.blocks.map((block) => [block.startTimeMillis, block]));
    this.requests = requests?.map((request) => this.#request(request, byStart));
    // The worst have colours of their own.
    const places = [...summary.places, ...(summary.startUp?.places ?? [])];
    const reasons = new Set(places.flatMap(({ unknown }) => unknown ?? []));
    const [reason] = reasons;
    // For several reasons they are one function all the same.
    if (reasons.size === 1) this.#fn(undefined).name = `${UNKNOWN} (${reason})`;
    const worst = [...new Set(places.map((place) => this.fnOf(place)))].filter((fn) => fn.code);
    worst.slice(0, COLORS).forEach((fn, i) => {
      fn.color = i;
    });
  }

  /** The function that a row of the summary is about. */
  fnOf(place: PlaceSummary): Fn {
    const { functionName, file, line, column } = place;
    const same = this.report.codes.findIndex(
      (code) =>
        code.functionName === functionName &&
        code.file === file &&
        code.line === line &&
        code.column === column,
    );
    return this.#fn(same === -1 ? undefined : same);
  }

  #fn(code: number | undefined): Fn {
    const key = code === undefined ? -1 : (this.report.functions[code] as number);
    let fn = this.#fns.get(key);
    if (fn === undefined) {
      const place = this.report.codes[key];
      fn = { key, name: nameOf(place), code: place, color: COLORS, blocks: [] };
      this.#fns.set(key, fn);
    }
    return fn;
  }

  #request(request: ReportRequest, byStart: ReadonlyMap<number, Block>): Request {
    const start = request.startTimeMillis - this.report.startTimeMillis;
    const waits: { block: Block; millis: number }[] = [];
    const own = { ...request, start, end: start + request.durationMillis, waits, row: 0 };
    for (let i = 0; i < request.waits.length; i += 2) {
      const block = byStart.get(request.waits[i] as number);
      const millis = request.waits[i + 1] as number;
      if (block === undefined) continue;
      waits.push({ block, millis });
      block.stalled.push({ request: own, millis });
    }
    return own;
  }
}

/** The longest of the blocks with the native call, or none, that took most of the time. */
export function longestOf({ blocks }: Fn): Block | undefined {
  const byCall = new Map<string | undefined, number>();
  const millisOf = ({ nativeCall }: Block) => byCall.get(nativeCall?.name) ?? 0;
  for (const block of blocks)
    byCall.set(block.nativeCall?.name, millisOf(block) + block.durationMillis);
  return [...blocks].sort(
    (a, b) => millisOf(b) - millisOf(a) || b.durationMillis - a.durationMillis,
  )[0];
}

/** Whether a frame is of a function: a callback has the name of the function around it. */
export function isFrameOf(
  { functionName, file, functionLine }: CodePlace,
  frame: { readonly name: string; readonly file: string; readonly functionLine: number },
): boolean {
  if (frame.file !== file) return false;
  const isNamed = functionName !== ANONYMOUS && frame.name === functionName;
  return isNamed || frame.functionLine === functionLine;
}

/** Two anonymous functions have two names. */
function nameOf(place: CodePlace | undefined): string {
  const { functionName = UNKNOWN, file, line, functionLine = line } = place ?? {};
  if (functionName !== ANONYMOUS || file === undefined) return functionName;
  return `${functionName} ${file.split(/[\\/]/).at(-1)}:${functionLine}`;
}

/** Rows in which no two requests overlap, as far as there are enough. Returns how many. */
export function assignRows(requests: readonly Request[], maxRows: number): number {
  const ends: number[] = [];
  for (const request of requests) {
    let row = ends.findIndex((end) => end <= request.start);
    if (row === -1) row = ends.length < maxRows ? ends.length : ends.indexOf(Math.min(...ends));
    ends[row] = request.end;
    request.row = row;
  }
  return ends.length;
}
