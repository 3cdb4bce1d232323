/** Compares the spans that a run exported with what its app knows to be true. */
import path from 'node:path';
import {
  EXIT_TOLERANCE_MILLIS,
  type HistogramValue,
  type Run,
  type SpanLine,
  type Truth,
} from './run-app.ts';
import { judgeValid, type Measurement } from './scenario.ts';
import {
  judgeUnlessDelayed,
  runDelayOf,
  stalledSince,
  voidBlock,
  voidNaming,
  voidTruth,
} from './validity.ts';

/**
 * A span may be this much longer or shorter than what the app measured: what lies between the two
 * clock reads.
 */
const LENGTH_TOLERANCE_RATIO = 0.02;
/** And at least this: there the scheduler may give one slice of 4 ms to another process. */
const LENGTH_TOLERANCE_MILLIS = 6;
/**
 * Start and end are compared across two clocks, `Date.now()` and `performance.now()`, and a start
 * may be moved to its parent's.
 */
export const POSITION_TOLERANCE_MILLIS = 8;
/**
 * What reporting a block takes by itself, the first time, beside the slow part of it that an app
 * measured.
 */
const OWN_WORK_TOLERANCE_MILLIS = 20;
/** The part of it that the machine may take, in all of a run. */
const OWN_WORK_DELAY_MILLIS = 10;
/** The same duration as a span (two HrTimes) and as a measurement (a double). */
const ROUNDING_MILLIS = 0.01;

/**
 * A block that has not ended is reported after some seconds: the part that the machine may take.
 */
const ONGOING_DELAY_MILLIS = 1000;
const ONGOING_LINE = /^\S+ event-loop-blocked for [\d.]+ s, not ended: .*\n/gm;

/** The part of the time for the exit of a process that the machine may take. */
const EXIT_DELAY_MILLIS = 20;
/** What was seen of a process before its end says why that was late. */
const EXIT_LEAD_MILLIS = 200;

/** Of one block, thirty of them in its first second, and one for the report of an ongoing one. */
const maxSamples = (durationMillis: number) => (durationMillis < 1000 ? 31 : 51);

/**
 * The function of `work()` of `apps/support/truth.cjs`. V8 may leave the check for interrupts out
 * of its inner loop, `hashSome` (seen on Node.js 24): then samples fall between two rounds.
 */
export const NAME_OF_WORK = /^(hashSome|work)$/;

export type BlockKind = 'callback' | 'microtasks' | 'pile-up';

export interface ExpectedBlock {
  /** Label of the truth. */
  truth: string;
  /** Undefined if it is not known. */
  kind: BlockKind | undefined;
  /**
   * `active` (the default): the span that was active. `none`: a root span. `active or none`: of a
   * pile-up.
   */
  parent?: 'active' | 'none' | 'active or none';
  /** How long the framework around the truth may have run in the same task; 0 when left out. */
  aroundMillis?: number;
}

export function lengthTolerance(millis: number): number {
  return Math.max(LENGTH_TOLERANCE_MILLIS, millis * LENGTH_TOLERANCE_RATIO);
}

/** The function that the block of each of these truths is attributed to. */
export function expectNamed(run: Run, names: Record<string, string | RegExp>): void {
  judgeValid(
    Object.entries(names).map(([label, name]) => {
      const truth = truthNamed(run, label);
      return {
        label: `the function of ${label}`,
        voidBecause: voidNaming(run, truth),
        judge: () => {
          const functions = blocksOf(run, truth).map(
            (block) => block.attributes['code.function.name'],
          );
          expect(functions).toEqual([
            typeof name === 'string' ? name : expect.stringMatching(name),
          ]);
        },
      };
    }),
  );
}

/** The app ran to its end, at once, and neither it nor the package had anything to say. */
export function expectQuietExit(run: Run): void {
  expectExit(run);
  expect(run.diags.map((line) => line.message)).toEqual([]);
}

/**
 * The app ran to its end, at once, and nothing was printed; something may have been logged. What
 * blocks for seconds because it has no CPU is reported, and that is no mistake.
 */
export function expectExit(run: Run, code = 0): void {
  const said = run.stderr.replace(ONGOING_LINE, '');
  expect({ code: run.code, signal: run.signal, stderr: said }).toEqual({
    code,
    signal: null,
    stderr: '',
  });
  judgeUnlessDelayed(runDelayOf(run), ONGOING_DELAY_MILLIS, () => expect(run.stderr).toBe(''));
  expectPromptExit(run);
}

/** The process ended when it had nothing left to do. */
export function expectPromptExit(run: Run): void {
  const finishedAt = Number(run.notes['finished']);
  judgeUnlessDelayed(stalledSince(run, finishedAt), EXIT_DELAY_MILLIS, () => {
    if (run.exitDelayMillis < EXIT_TOLERANCE_MILLIS) return;
    // It is rare: another run would not show why.
    const delays = run.delays.filter(({ atMillis }) => atMillis > finishedAt - EXIT_LEAD_MILLIS);
    const stalls = run.stalls.filter(({ toMillis }) => toMillis > finishedAt - EXIT_LEAD_MILLIS);
    throw new Error(
      `ended ${run.exitDelayMillis} ms after it had finished, at ${finishedAt}: ${JSON.stringify({ delays, stalls })}`,
    );
  });
}

/**
 * Exactly these blocks were reported, in this order: each once, with its length, its kind and its
 * parent, and no other block in any trace.
 */
export function expectBlocks(run: Run, expected: ExpectedBlock[]): void {
  expectSoundBlocks(run);
  const truths = expected.map(({ truth }) => truthNamed(run, truth));
  const found: SpanLine[] = [];
  judgeValid([
    ...othersThan(run, truths),
    ...expected.flatMap((each) => measurementsOf(run, each, (block) => found.push(block))),
  ]);
  const ids = found.map(({ spanId }) => spanId);
  expect(run.blocks.map(({ spanId }) => spanId).filter((id) => ids.includes(id))).toEqual(ids);
}

/** No block was reported but those of these truths. */
export function expectNoOtherBlock(run: Run, ...labels: string[]): void {
  judgeValid(
    othersThan(
      run,
      labels.map((label) => truthNamed(run, label)),
    ),
  );
}

const othersThan = (run: Run, truths: readonly Truth[]): Measurement[] =>
  run.blocks
    .filter((block) => !truths.some((truth) => overlap(block, truth) > POSITION_TOLERANCE_MILLIS))
    .map((block) => unexpected(run, block));

/** What `truth` stands for was reported as one span, besides what else was. */
export function expectBlock(run: Run, expected: ExpectedBlock): SpanLine {
  judgeValid(measurementsOf(run, expected));
  return blocksOf(run, truthNamed(run, expected.truth))[0] as SpanLine;
}

/** Without promise hooks, the parent of a promise reaction is known from stack samples only. */
function measurementsOf(
  run: Run,
  expected: ExpectedBlock,
  found: (block: SpanLine) => void = () => {},
): Measurement[] {
  const truth = truthNamed(run, expected.truth);
  const blocks = blocksOf(run, truth);
  const [block] = blocks;
  const voidLength = voidTruth(run, truth, blocks);
  return [
    {
      label: expected.truth,
      voidBecause: voidLength,
      judge: () => found(judgeLength(run, expected)),
    },
    {
      label: `kind and parent of ${expected.truth}`,
      voidBecause: isSaid(run, expected)
        ? undefined
        : (voidLength ?? (block && voidNaming(run, block))),
      judge: () => judgeKindAndParent(run, expected, block as SpanLine),
    },
  ];
}

/**
 * Whether a block of the right length says of which kind it is, and has a parent: if these are
 * wrong, a busy machine is no excuse. Without a stack sample they may be missing.
 */
function isSaid(run: Run, expected: ExpectedBlock): boolean {
  try {
    const { attributes, parentSpanId } = judgeLength(run, expected);
    const isParentSaid = parentSpanId !== undefined || expected.parent === 'none';
    return attributes['event_loop.block.kind'] !== undefined && isParentSaid;
  } catch {
    return false;
  }
}

/** A block that nothing in the app explains. */
const unexpected = (run: Run, block: SpanLine) => ({
  label: 'another block',
  voidBecause: voidBlock(run, block),
  judge: () => {
    throw new Error(`an unexpected block: ${describeBlock(block)}\n${tellRun(run, block)}`);
  },
});

const overlap = (block: SpanLine, truth: Truth) =>
  block.pid === truth.pid && block.thread === truth.thread
    ? Math.min(block.endMillis, truth.endMillis) - Math.max(block.startMillis, truth.startMillis)
    : 0;

const blocksOf = (run: Run, truth: Truth) =>
  run.blocks.filter((block) => overlap(block, truth) > POSITION_TOLERANCE_MILLIS);

function judgeLength(run: Run, expected: ExpectedBlock): SpanLine {
  const truth = truthNamed(run, expected.truth);
  const overlapping = blocksOf(run, truth);
  if (overlapping.length !== 1) {
    throw new Error(
      `expected one block for ${describeTruth(truth)}, got ${overlapping.length}\n${tellRun(run, truth)}`,
    );
  }
  const block = overlapping[0] as SpanLine;
  expectLength(run, block, truth, expected.aroundMillis);
  return block;
}

function judgeKindAndParent(run: Run, expected: ExpectedBlock, block: SpanLine): void {
  const truth = truthNamed(run, expected.truth);
  const nameOf = (spanId?: string) => run.spans.find((span) => span.spanId === spanId)?.name;
  const reported = {
    truth: expected.truth,
    kind: block.attributes['event_loop.block.kind'],
    parentSpanId: block.parentSpanId,
    parentName: nameOf(block.parentSpanId),
    traceId: block.parentSpanId && block.traceId,
  };
  const active = {
    truth: expected.truth,
    kind: expected.kind,
    parentSpanId: truth.spanId,
    parentName: nameOf(truth.spanId),
    traceId: truth.traceId,
  };
  const none = { ...active, parentSpanId: undefined, parentName: undefined, traceId: undefined };
  // the app did have an active span, or none
  expect(truth.spanId !== undefined).toBe(expected.parent !== 'none');
  if (expected.parent === 'active or none') expect([active, none]).toContainEqual(reported);
  else expect(reported).toEqual(expected.parent === 'none' ? none : active);
}

/** The span covers what the app measured, within the tolerances. */
function expectLength(run: Run, block: SpanLine, truth: Truth, aroundMillis = 0): void {
  const longer = block.durationMillis - truth.durationMillis;
  const earlier = truth.startMillis - block.startMillis;
  const tolerance = lengthTolerance(truth.durationMillis);
  const wrong =
    longer < -tolerance ||
    longer > tolerance + aroundMillis ||
    earlier < -POSITION_TOLERANCE_MILLIS ||
    earlier > POSITION_TOLERANCE_MILLIS + aroundMillis;
  if (wrong)
    throw new Error(
      `${describeBlock(block)}\nis not ${describeTruth(truth)}\n${tellRun(run, block)}`,
    );
}

const KNOWN_ATTRIBUTES = [
  'event_loop.block.called_by',
  'event_loop.block.kind',
  'event_loop.block.callbacks',
  'event_loop.async_resource.type',
  'event_loop.block.cpu_time',
  'event_loop.block.duration',
  'event_loop.block.gc_time',
  'event_loop.block.cause',
  'event_loop.block.native_call',
  'event_loop.block.native_call.size',
  'event_loop.block.native_time',
  'event_loop.block.loaded_module',
  'event_loop.block.samples',
  'event_loop.block.stalled_spans',
  'event_loop.block.queued_spans',
  'event_loop.block.top_functions',
  'code.function.name',
  'code.file.path',
  'code.line.number',
  'code.column.number',
  'code.stacktrace',
  'thread.id',
  'thread.name',
];

/** What is true of all blocks of every run. */
export function expectSoundBlocks(run: Run): void {
  for (const block of run.blocks) {
    const seconds = block.durationMillis / 1e3;
    expect(block.kind).toBe(0); // INTERNAL
    expect(block.status.code).toBe(0); // UNSET
    expect(block.links).toEqual([]);
    expect(block.scope).toBe('opentelemetry-instrumentation-event-loop');
    expect(Object.keys(block.attributes).filter((key) => !KNOWN_ATTRIBUTES.includes(key))).toEqual(
      [],
    );
    expect(block.attributes['thread.id']).toBe(block.thread);
    expect(typeof block.attributes['thread.name']).toBe('string');
    if (block.attributes['event_loop.block.kind'] === 'pile-up') {
      expect(block.attributes['event_loop.block.callbacks']).toBeGreaterThan(1);
    }
    const gcTime = Number(block.attributes['event_loop.block.gc_time'] ?? 0);
    expect(gcTime).toBeGreaterThanOrEqual(0);
    expect(gcTime).toBeLessThanOrEqual(seconds);

    expectSoundCode(block);

    const parent = run.spans.find((span) => span.spanId === block.parentSpanId);
    if (block.parentSpanId) expect(parent).toBeDefined();
    if (parent && parent.startMillis - block.startMillis > ROUNDING_MILLIS) {
      throw new Error(
        `a child that starts before its parent: ${describeBlock(block)}, ${parent.name}\n${tellRun(run)}`,
      );
    }
    // A span that begins or ends with its parent may be shorter than its block, and says so then.
    const length = block.attributes['event_loop.block.duration'];
    if (length !== undefined) {
      expect(parent).toBeDefined();
      const { startMillis, durationMillis } = parent as SpanLine;
      const after = block.startMillis - startMillis;
      const before = startMillis + durationMillis - block.startMillis - block.durationMillis;
      expect(Math.min(Math.abs(after), Math.abs(before))).toBeLessThanOrEqual(ROUNDING_MILLIS);
      expect(Number(length)).toBeGreaterThan(seconds - ROUNDING_MILLIS / 1e3);
    }
  }
  for (const [i, block] of run.blocks.entries()) {
    for (const other of run.blocks.slice(i + 1)) {
      if (other.pid !== block.pid || other.thread !== block.thread) continue;
      const shared = block.endMillis - other.startMillis;
      if (shared > POSITION_TOLERANCE_MILLIS) {
        throw new Error(
          `the same milliseconds twice: ${describeBlock(block)}, ${describeBlock(other)}\n${tellRun(run)}`,
        );
      }
    }
  }
}

const OWN_FOLDER = path.dirname(require.resolve('opentelemetry-instrumentation-event-loop'));
/** As many functions as `event_loop.block.top_functions` has at most. */
const MAX_TOP_FUNCTIONS = 5;
/** It needs three samples with code of functions: so many are enough if half of them have it. */
const ENOUGH_SAMPLES = 6;

/** The function named is in a stack sample, and is user code: neither Node.js' own nor ours. */
function expectSoundCode({ attributes, durationMillis }: SpanLine): void {
  const name = attributes['code.function.name'];
  if (name === undefined) {
    expect(Object.keys(attributes).filter((key) => key.startsWith('code.'))).toEqual([]);
    return;
  }
  expect(Number(attributes['event_loop.block.samples'])).toBeGreaterThanOrEqual(1);
  expect(Number(attributes['event_loop.block.samples'])).toBeLessThanOrEqual(
    maxSamples(durationMillis),
  );
  expect(String(attributes['code.file.path'])).not.toMatch(/^node:|[\\/]dist[\\/]index\.[cm]js$/);
  expect(Number(attributes['code.line.number'])).toBeGreaterThanOrEqual(1);
  expect(Number(attributes['code.column.number'])).toBeGreaterThanOrEqual(1);
  expect(String(attributes['code.stacktrace'])).toMatch(/^ {4}at .+(\n {4}at .+)*$/);
  if (Number(attributes['event_loop.block.samples']) < ENOUGH_SAMPLES) {
    if (attributes['event_loop.block.top_functions'] === undefined) return;
  }
  // These are the innermost functions: not the one that is named, if it called a dependency.
  const shares = String(attributes['event_loop.block.top_functions']).split(', ');
  const innermost = String(attributes['code.stacktrace'])
    .split('\n')
    .find((line) => /[\\/]/.test(line) && !line.includes('node:') && !line.includes(OWN_FOLDER));
  const isInnermost =
    innermost?.includes(String(attributes['code.file.path'])) &&
    (name === '<anonymous>' ? !innermost.endsWith(')') : innermost.includes(`at ${name} (`));
  if (isInnermost && shares.length < MAX_TOP_FUNCTIONS)
    expect(shares).toContainEqual(expect.stringContaining(`${name} `));
}

/**
 * The histogram of blocks has the spans' durations, and beside them only these, whose spans are not
 * made.
 */
export function expectBlockMetric(
  run: Run,
  metricOnly: { count: number; millis: number } = { count: 0, millis: 0 },
): void {
  const points = run.metrics.filter((metric) => metric.name === 'event_loop.block.duration');
  const values = points.map((point) => point.value as HistogramValue);
  const sumMillis = run.blocks.reduce((sum, block) => sum + block.durationMillis, 0);
  const expectCount = () => expect(countedBlocks(run)).toBe(run.blocks.length + metricOnly.count);
  // Work of the package itself has no span; it may reach the threshold if it has to wait for a
  // CPU.
  if (countedBlocks(run) < run.blocks.length + metricOnly.count) expectCount();
  else judgeUnlessDelayed(runDelayOf(run), OWN_WORK_DELAY_MILLIS, expectCount);
  const reported = values.reduce((sum, value) => sum + value.sum * 1e3, 0);
  // a span may be moved to its parent's start, the measurement is not
  const tolerance =
    run.blocks.length * POSITION_TOLERANCE_MILLIS + metricOnly.count * OWN_WORK_TOLERANCE_MILLIS;
  judgeUnlessDelayed(runDelayOf(run), OWN_WORK_DELAY_MILLIS, () =>
    expect(Math.abs(reported - sumMillis - metricOnly.millis)).toBeLessThan(tolerance),
  );
  for (const point of points) expect(point.unit).toBe('s');
}

/** How many blocks the histogram has. */
export function countedBlocks(run: Run): number {
  const points = run.metrics.filter((metric) => metric.name === 'event_loop.block.duration');
  return points.reduce((sum, point) => sum + (point.value as HistogramValue).count, 0);
}

/** Nothing blocked the event loop, as far as spans and the histogram of blocks say. */
export function expectNothingReported(run: Run): void {
  expectNoOtherBlock(run);
  expect(run.metrics.filter((metric) => metric.name === 'event_loop.block.duration')).toEqual([]);
}

/** The lag samples of one phase of a run, in milliseconds. */
export function lagOf(
  run: Run,
  phase = 'end',
): { count: number; meanMillis: number; maxMillis: number; sumMillis: number } {
  const points = run.metrics.filter(
    (metric) => metric.name === 'event_loop.lag' && metric.phase === phase,
  );
  if (points.length !== 1)
    throw new Error(`expected one lag histogram for phase ${phase}\n${tellRun(run)}`);
  const value = points[0]?.value as HistogramValue;
  expect(points[0]?.unit).toBe('s');
  return {
    count: value.count,
    meanMillis: (value.sum / value.count) * 1e3,
    maxMillis: value.max * 1e3,
    sumMillis: value.sum * 1e3,
  };
}

export function truthNamed(run: Run, label: string): Truth {
  const found = run.truths.filter((truth) => truth.label === label);
  if (found.length !== 1)
    throw new Error(`expected one truth ${label}, got ${found.length}\n${tellRun(run)}`);
  return found[0] as Truth;
}

export function truthsNamed(run: Run, label: string): Truth[] {
  return run.truths.filter((truth) => truth.label === label);
}

const from = (millis: number) => (millis % 1e6).toFixed(1);

function describeTruth(truth: Truth): string {
  return `${truth.label}: ${truth.durationMillis.toFixed(1)} ms from ${from(truth.startMillis)} in span ${truth.spanId ?? 'none'}`;
}

export function describeBlock(block: SpanLine): string {
  return `${block.attributes['event_loop.block.kind'] ?? 'block'}: ${block.durationMillis.toFixed(1)} ms from ${from(block.startMillis)} in span ${block.parentSpanId ?? 'none'} ${JSON.stringify(block.attributes)}`;
}

/** What a failure message says of the run: all of it, or what was about this time. */
function tellRun(run: Run, around?: Truth | SpanLine): string {
  const near = (line: Truth | SpanLine) =>
    !around || Math.abs(line.startMillis - around.startMillis) < 500;
  return [
    'truths',
    ...run.truths.filter(near).map((truth) => `  ${describeTruth(truth)}`),
    'blocks',
    ...run.blocks.filter(near).map((block) => `  ${describeBlock(block)}`),
    'diag',
    ...run.diags.map((line) => `  ${line.level} ${line.message}`),
    run.stderr,
  ].join('\n');
}
