/**
 * From the stack samples of a block to the place that it is named by:
 *
 * 1. Each sample stands for a part of the block (`weights.ts`), one that came late for two moments:
 *    what ran until it came, and what came next.
 * 2. Each stack is a way through the functions that a block can be named by (`stack-path.ts`).
 * 3. The ways of all samples are a tree (`call-tree.ts`).
 * 4. The place is a function on the tree's dominant path, at the line with most of its time.
 *
 * Guarantees: it is pure; the place is the application's own code if some was on the stack for most
 * of the time, and never an agent's wrapper around it.
 */
import type { NativeCall, StackFrame } from '../../../block.ts';
import { cut, MAX_STACK_TRACE_LENGTH } from '../../../support/bounded.ts';
import { toPath } from '../../../support/file-url.ts';
import type { BlockingCode, FunctionShare } from '../../../types.ts';
import { CallTree, heaviestVisit, type Observation } from './call-tree.ts';
import { splitsByText } from './continuation.ts';
import { isWasmFile, type OriginOf } from './in-app.ts';
import { distinctNamesOf, type KeyedPlace, keyOf, shortPlace } from './key.ts';
import { beginsMessage, pathAt, pathBefore, type Step, surePath } from './stack-path.ts';
import { type SampleWeight, type TimedSample, weigh } from './weights.ts';

/** Fewer moments with code would make a share say more than is known. A late sample is two. */
const MIN_MOMENTS_FOR_SHARES = 3;
const MAX_SHARES = 5;
const WEB_ASSEMBLY: NativeCall = { name: 'WebAssembly', size: undefined };

/** The place to change: what `code.*` says. */
export interface SampledPlace extends BlockingCode, KeyedPlace {
  /** File of the module that it was loading for most of its time, by `require` or `import()`. */
  readonly requires?: string;
}

export interface SampledCode {
  readonly samples: number;
  /** Absent if no sample has code that can be named, or if it is one of many functions. */
  readonly code?: SampledPlace;
  /** `code` was seen in one of many samples only. */
  readonly isRare?: true;
  /** The function that ran innermost for most of the time of `code`, if it is another one. */
  readonly leaf?: KeyedPlace;
  /** Shares of the innermost functions, the heaviest first. */
  readonly topFunctions?: readonly FunctionShare[];
  /**
   * Milliseconds of the block in which JavaScript could not be interrupted: native code, garbage
   * collection, or no CPU. For each sample that came late, it is the time from its request to its
   * arrival, and as long again before the request (on average, a request falls into the middle of a
   * call), but not more of the gap before it than the sample stands for. Pieces under 3 ms do not
   * count. Absent without samples.
   */
  readonly nativeTimeMillis?: number;
  /** The wrapped built-in that ran for more than half of the block, or `WebAssembly`. */
  readonly nativeCall?: NativeCall;
  /** Garbage collection in `nativeTimeMillis`; absent if it is not known. */
  readonly gcInNativeTimeMillis?: number;
  /** No JavaScript called what ran in that time: its samples have an empty stack. */
  readonly isOutsideJavaScript?: true;
  /** A message was deserialized for more than half of the block. */
  readonly isMessage?: true;
}

export interface DescribeOptions {
  readonly originOf: OriginOf;
  /** The process' working directory, for the names in `topFunctions` that need their file. */
  readonly cwd: string;
  /** Milliseconds of garbage collection between two times; NaN if that is not known. */
  readonly gcWithin?: ((from: number, until: number) => number) | undefined;
  /** See `Block.lackedCpu`. */
  readonly lackedCpuMillis?: number | undefined;
}

/**
 * Describes the block from `start` to `end`. Samples that were neither taken nor asked for in it do
 * not count, and their order does not matter. One without an answer has a `time` past the end, and
 * no frames.
 */
export function describeCode(
  samples: readonly TimedSample[],
  start: number,
  end: number,
  options: DescribeOptions,
): SampledCode {
  const weighted = weigh(samples, start, end);
  const nativeCall = mainNativeCall(weighted, end - start);
  const sampled = {
    samples: weighted.reduce((count, { isInside }) => count + (isInside ? 1 : 0), 0),
    ...nativeTimeOf(weighted, options.gcWithin),
    ...(nativeCall !== undefined && { nativeCall }),
    ...(weighted.some((sample) => isMessage(sample, end - start)) && { isMessage: true as const }),
  };
  const observations = weighted.flatMap((sample, i) =>
    observationsOf(sample, weighted[i - 1]?.sample, end - start, options.originOf),
  );
  const tree = new CallTree(observations, options.lackedCpuMillis);
  const named = observations.filter(({ steps }) => steps.length > 0);
  const hasShares = named.length >= MIN_MOMENTS_FOR_SHARES;
  return {
    ...sampled,
    ...(codeOf(tree, tree, options.cwd) ?? codeOf(tree.below(), tree, options.cwd)),
    ...(hasShares && tree.weight > 0 && { topFunctions: sharesOf(tree, options.cwd) }),
  };
}

function codeOf(
  tree: CallTree | undefined,
  whole: CallTree,
  cwd: string,
): Pick<SampledCode, 'code' | 'isRare' | 'leaf'> | undefined {
  const place = tree?.place();
  if (tree === undefined || place === undefined) return undefined;
  const leaf = tree.leaves(place)[0];
  const requires = tree.moduleLoadedBy(place);
  const { frame, sample } = heaviestVisit(place);
  const caller = whole.callerOf(place.step);
  return {
    code: {
      ...functionAt(place.step, frame),
      stackTrace: stackTraceOf(sample),
      ...(requires !== undefined && { requires: toPath(requires) }),
      ...(caller !== undefined && {
        calledBy: shortPlace(functionAt(caller.step, heaviestVisit(caller).frame), cwd),
      }),
    },
    ...(tree.isRare(place) && { isRare: true as const }),
    ...(leaf !== undefined &&
      leaf.step.key !== place.step.key && {
        leaf: functionAt(leaf.step, heaviestVisit(leaf).frame),
      }),
  };
}

/** A function's callbacks that have its name, and lie in its file, count for it. */
function sharesOf(tree: CallTree, cwd: string): FunctionShare[] {
  const byKey = new Map<string, { place: KeyedPlace; weight: number }>();
  for (const { step, visits, weight } of tree.leaves()) {
    const place = functionAt(step, heaviestVisit({ visits }).frame);
    const known = byKey.get(keyOf(place));
    if (known === undefined) byKey.set(keyOf(place), { place, weight });
    else known.weight += weight;
  }
  const heaviest = [...byKey.values()].sort((a, b) => b.weight - a.weight).slice(0, MAX_SHARES);
  const names = distinctNamesOf(
    heaviest.map(({ place }) => place),
    cwd,
  );
  return heaviest.map(({ weight }, i) => ({
    functionName: names[i] as string,
    share: weight / tree.weight,
  }));
}

/** The place of a single sample, for a block that has not ended. */
export function placeOfSample(sample: TimedSample, originOf: OriginOf): SampledPlace | undefined {
  const start = sample.time - 1;
  const { code } = describeCode([sample], start, sample.time, { originOf, cwd: '' });
  if (code === undefined) return undefined;
  // One sample cannot say that it is most of the time.
  const { calledBy: _, ...place } = code;
  return place;
}

function observationsOf(
  { sample, before, after, isLate, isInside }: SampleWeight,
  earlier: TimedSample | undefined,
  millis: number,
  originOf: OriginOf,
): Observation[] {
  if (!isInside) return [];
  const { frames, nativeCall } = sample;
  const at = pathAt(frames, originOf);
  if (!isLate) return [{ ...at, weight: before + after, sample }];
  const path = pathBefore(frames, originOf);
  const isMost = before * 2 > millis && nativeCall === undefined;
  const isSure = !isMost || frames[0]?.isAtEntry !== true;
  const ran = isSure ? path : surePath(path, earlier, originOf);
  return [
    { ...ran, weight: before, sample },
    { ...at, weight: after, sample },
  ];
}

function isMessage({ sample, isLate, isInside, before }: SampleWeight, millis: number): boolean {
  return isLate && isInside && before * 2 > millis && beginsMessage(sample.frames);
}

function nativeTimeOf(
  weighted: readonly SampleWeight[],
  gcWithin: DescribeOptions['gcWithin'],
): Pick<SampledCode, 'nativeTimeMillis' | 'gcInNativeTimeMillis' | 'isOutsideJavaScript'> {
  if (weighted.length === 0) return {};
  let native = 0;
  let gc = gcWithin === undefined ? Number.NaN : 0;
  for (const { uninterrupted, until } of weighted) {
    if (uninterrupted === 0) continue;
    native += uninterrupted;
    gc += Math.min(uninterrupted, gcWithin?.(until - uninterrupted, until) ?? Number.NaN);
  }
  const late = weighted.filter(({ uninterrupted }) => uninterrupted > 0);
  const isOutsideJavaScript =
    late.length > 0 &&
    late.every(({ isInside, sample }) => {
      return isInside && sample.frames.length === 0 && sample.nativeCall === undefined;
    });
  return {
    nativeTimeMillis: native,
    ...(!Number.isNaN(gc) && { gcInNativeTimeMillis: gc }),
    ...(isOutsideJavaScript && { isOutsideJavaScript }),
  };
}

/**
 * The built-in that ran for more than half of the block, with the size of its largest input. If a
 * sample came late, the built-in had ended by then; a regular expression had begun.
 */
function mainNativeCall(weighted: readonly SampleWeight[], millis: number): NativeCall | undefined {
  const calls = new Map<string, { weight: number; call: NativeCall }>();
  for (const { sample, isInside, isLate, before, after } of weighted) {
    const ended = sample.nativeCall ?? webAssemblyIn(sample);
    const call = ended ?? regExpIn(sample);
    if (!isInside || call === undefined) continue;
    const known = calls.get(call.name) ?? { weight: 0, call };
    const afterLate = ended === undefined ? after : before;
    known.weight += isLate ? afterLate : before + after;
    if ((call.size ?? 0) > (known.call.size ?? 0)) known.call = call;
    calls.set(call.name, known);
  }
  return [...calls.values()].find(({ weight }) => weight > millis / 2)?.call;
}

function webAssemblyIn({ frames: [innermost] }: TimedSample): NativeCall | undefined {
  return isWasmFile(innermost?.file ?? '') ? WEB_ASSEMBLY : undefined;
}

/**
 * V8 interrupts no built-in that is not wrapped, but those of regular expressions, and
 * `split` and `replaceAll` by a text.
 */
function regExpIn({ frames: [innermost, caller] }: TimedSample): NativeCall | undefined {
  const name = innermost?.functionName ?? '';
  const [, type, method] = /^(RegExp|String)\.(?!replaceAll)(.+)/.exec(name) ?? [];
  if (!innermost?.isBuiltin || method === undefined) return undefined;
  if (method === 'split' && splitsByText(caller ?? {})) return undefined;
  return { name: `${type}#${method}`, size: undefined };
}

function functionAt({ name }: Step, frame: StackFrame): KeyedPlace {
  const { file, line, column, functionLine, functionColumn } = frame;
  return {
    functionName: name,
    ...(file !== undefined && { file: toPath(file) }),
    ...(line !== undefined && { line }),
    ...(column !== undefined && { column }),
    ...(functionLine !== undefined && { functionLine }),
    ...(functionColumn !== undefined && { functionColumn }),
  };
}

/** A sample in a wrapper of a built-in begins with frames of this package. */
function tracedFrames({ frames }: Pick<TimedSample, 'frames'>): readonly StackFrame[] {
  const first = frames.findIndex(({ isOwn }) => !isOwn);
  return frames.slice(Math.max(0, first));
}

function stackTraceOf(sample: TimedSample): string {
  const lines = tracedFrames(sample).map(
    ({ text }) => (text.startsWith('... ') ? '    ' : '    at ') + text,
  );
  return cut(lines.join('\n'), MAX_STACK_TRACE_LENGTH);
}
