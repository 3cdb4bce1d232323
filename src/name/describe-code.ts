/**
 * From the stack samples of a block to the place that it is named by. Promises: pure, all that it
 * needs is given to it; the place is the application's own code where some was on the stack for
 * most of the time, and never an agent's wrapper around it; an agent's own code only if that ran
 * for more than half of the time itself.
 */

import type { NativeCall } from '../block.ts';
import { toPath } from '../support/file-url.ts';
import type { BlockingCode, FunctionShare } from '../types.ts';
import {
  CallTree,
  type Leaf,
  moduleLoadedBy,
  type Observation,
  placeOn,
  placeOnSteps,
  positionIn,
} from './call-tree.ts';
import { isWasmFile, type OriginOf } from './in-app.ts';
import { distinctNamesOf, type KeyedPlace, keyOf } from './key.ts';
import { ranFunctions } from './ran-functions.ts';
import { agentPathAt, pathAt, pathBefore, type StackPath, type Step } from './stack-path.ts';
import { LATE_MILLIS, type TimedSample, type WeightedSample, weigh } from './weights.ts';

/** With fewer a share would say more than is known. A late sample speaks of two moments. */
const MIN_MOMENTS_FOR_SHARES = 3;
const MAX_SHARES = 5;
const WEB_ASSEMBLY: NativeCall = { name: 'WebAssembly', size: undefined };

/** The place to change: what `code.*` says. */
export interface SampledPlace extends BlockingCode, KeyedPlace {
  /** File of the module that it was loading for most of its time, by `require` or `import()`. */
  readonly requires?: string;
}

/** A function that a block can be named by, and for how long it was on the stack. */
export interface FunctionTime {
  readonly place: KeyedPlace;
  readonly millis: number;
  /** Without the time of the function that it called for longest. */
  readonly apartMillis: number;
}

/** What a block's samples amount to. */
export interface SampledCode {
  /** How many were taken in the block. */
  readonly samples: number;
  /** Absent where no sample has code that can be named. */
  readonly code?: SampledPlace;
  /** What ran innermost for most of the time of `code`, where that is another function. */
  readonly leaf?: KeyedPlace;
  /**
   * Shares of the innermost functions, the heaviest first; with three samples or more, of which
   * one that came late counts as two.
   */
  readonly topFunctions?: readonly FunctionShare[];
  /**
   * Milliseconds of the block in which JavaScript could not be interrupted: native code, garbage
   * collection, or no CPU. For each sample that came late, the time from its request to its
   * arrival, and as long again before the request (on average, a request falls into the middle of a
   * call), at most what of the gap before it the sample stands for. Pieces under 3 ms do not count.
   * Absent without samples.
   */
  readonly nativeTimeMillis?: number;
  /** The wrapped built-in that ran for more than half of the block, or `WebAssembly`. */
  readonly nativeCall?: NativeCall;
  /** Of it, garbage collection; absent where that is not known. */
  readonly gcInNativeTimeMillis?: number;
  /** No JavaScript called what ran in that time: its samples have an empty stack. */
  readonly isOutsideJavaScript?: true;
  /** All functions that the block can be named by; only if `listsFunctions` is set. */
  readonly functions?: readonly FunctionTime[];
}

export interface DescribeOptions {
  readonly originOf: OriginOf;
  /** Of the process; for the names in `topFunctions` that say nothing without their file. */
  readonly cwd: string;
  /** Milliseconds of garbage collection between two times; NaN where that is not known. */
  readonly gcWithin?: ((from: number, until: number) => number) | undefined;
  readonly listsFunctions?: boolean;
}

/**
 * What the samples say about the block from `start` to `end`. They may be of more than the block,
 * in any order: those that were neither taken nor asked for in it do not count. One that was asked
 * for and not answered has a `time` past the end, and no frames.
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
  };
  const observations = weighted.flatMap((sample) => observationsOf(sample, options.originOf));
  const tree = new CallTree(observations);
  const hasShares = momentsIn(weighted) >= MIN_MOMENTS_FOR_SHARES;
  const leaves = tree.leaves();
  const shares = hasShares && { topFunctions: sharesOf(leaves, tree.weight, options.cwd) };
  const ran = options.listsFunctions === true && {
    functions: ranFunctions(observations).map(({ step, millis, apartMillis }) => ({
      place: functionAt(step, step),
      millis,
      apartMillis,
    })),
  };
  const agents = hasShares ? treeOfAgents(observations, tree.weight) : undefined;
  const place = agents === undefined ? placeOn(tree.dominantPath()) : agents.dominantPath().at(-1);
  if (place === undefined) return sampled;
  const leaf = (agents ?? tree).leaves(place)[0];
  const requires = moduleLoadedBy(place);
  const position = positionIn(place);
  return {
    ...sampled,
    code: {
      ...functionAt(place.step, position),
      stackTrace: stackTraceOf(position.sample),
      ...(requires !== undefined && { requires: toPath(requires) }),
    },
    ...(leaf !== undefined &&
      leaf.step.key !== place.step.key && { leaf: functionAt(leaf.step, leaf.position) }),
    ...shares,
    ...ran,
  };
}

/**
 * What agents ran themselves, if that is more than half of the time: then no change of the
 * application would help.
 */
function treeOfAgents(
  observations: readonly Ran[],
  total: number,
): CallTree<TimedSample> | undefined {
  const tree = new CallTree(
    observations.map(({ agent, weight, sample }) => ({ steps: agent, weight, sample })),
  );
  return tree.weight * 2 > total ? tree : undefined;
}

/** A function's callbacks that have its name, and lie in its file, count for it. */
function sharesOf(
  leaves: readonly Leaf<TimedSample>[],
  total: number,
  cwd: string,
): FunctionShare[] {
  const byKey = new Map<string, { place: KeyedPlace; weight: number }>();
  for (const { step, position, weight } of leaves) {
    const place = functionAt(step, position);
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
    share: weight / total,
  }));
}

/**
 * The place of a single sample: what {@link describeCode} says of a block from before its request
 * to its arrival, without the tree.
 */
export function placeOfSample(sample: TimedSample, originOf: OriginOf): SampledPlace | undefined {
  const { frames } = sample;
  const isLate = sample.time - sample.requestedAt >= LATE_MILLIS;
  const path = isLate ? pathBefore(frames, originOf) : pathAt(frames, originOf);
  const step = placeOnSteps(path.steps);
  if (step === undefined) return undefined;
  const requires = moduleOn(path, step);
  return {
    ...functionAt(step, step),
    stackTrace: stackTraceOf(sample),
    ...(requires !== undefined && { requires: toPath(requires) }),
  };
}

/** The module that `step` was loading, itself or through a package. */
function moduleOn({ steps, isLoading, loads }: StackPath, step: Step): string | undefined {
  const module = steps.slice(steps.indexOf(step) + 1).find(({ isModule }) => isModule);
  if (module !== undefined) return module.frame.file;
  return isLoading ? loads : undefined;
}

function momentsIn(weighted: readonly WeightedSample[]): number {
  return weighted.reduce((sum, { isInside, isLate }) => {
    return isInside ? sum + (isLate ? 2 : 1) : sum;
  }, 0);
}

/** What ran, and of an agent's functions those that ran themselves, outermost first. */
interface Ran extends Observation<TimedSample> {
  readonly agent: readonly Step[];
}

/** A sample speaks of two moments, where it came late. */
function observationsOf(
  { sample, before, after, isLate, isInside }: WeightedSample,
  originOf: OriginOf,
): Ran[] {
  if (!isInside) return [];
  const { frames, nativeCall } = sample;
  const agent = nativeCall === undefined ? agentPathAt(frames, originOf, isLate) : [];
  const ran = (path: StackPath, weight: number): Ran => {
    // Alone on the stack, it is on the path.
    const isOnPath = path.steps.at(-1)?.origin === 'agent';
    return { ...path, weight, sample, agent, leaf: isOnPath ? undefined : agent.at(-1) };
  };
  const at = pathAt(frames, originOf);
  if (!isLate) return [ran(at, before + after)];
  return [ran(pathBefore(frames, originOf), before), ran(at, after)];
}

function nativeTimeOf(
  weighted: readonly WeightedSample[],
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
 * The built-in that ran for more than half of the block, with the size of its largest input. Where
 * a sample came late, it had ended by then.
 */
function mainNativeCall(
  weighted: readonly WeightedSample[],
  millis: number,
): NativeCall | undefined {
  const calls = new Map<string, { weight: number; call: NativeCall }>();
  for (const { sample, isInside, isLate, before, after } of weighted) {
    const call = isInside ? (sample.nativeCall ?? webAssemblyIn(sample)) : undefined;
    if (call === undefined) continue;
    const known = calls.get(call.name) ?? { weight: 0, call };
    known.weight += isLate ? before : before + after;
    if ((call.size ?? 0) > (known.call.size ?? 0)) known.call = call;
    calls.set(call.name, known);
  }
  return [...calls.values()].find(({ weight }) => weight > millis / 2)?.call;
}

function webAssemblyIn({ frames: [innermost] }: TimedSample): NativeCall | undefined {
  return isWasmFile(innermost?.file ?? '') ? WEB_ASSEMBLY : undefined;
}

function functionAt({ name }: Step, { frame }: Pick<Step, 'frame'>): KeyedPlace {
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

function stackTraceOf({ frames }: TimedSample): string {
  return frames
    .map(({ text }) => (text.startsWith('... ') ? `    ${text}` : `    at ${text}`))
    .join('\n');
}
