/** From the stack samples of a block to its blocking function. */
import type { CodeLocation, WeightedSample } from '../block.ts';
import { toPath } from '../support/file-url.ts';
import type { BlockingCode, FunctionShare } from '../types.ts';
import { blockingFunctionIn, stackTraceOf } from './blocking-function.ts';

/** With fewer samples a share would say more than is known. */
const MIN_SAMPLES_FOR_SHARES = 3;
const MAX_SHARES = 5;

interface Candidate {
  readonly sample: WeightedSample;
  readonly location: CodeLocation;
  readonly functionName: string;
  weight: number;
}

/** What the stack samples of a block amount to. */
export interface SampledCode {
  readonly samples: number;
  readonly code?: BlockingCode;
  readonly topFunctions?: readonly FunctionShare[];
}

/**
 * The function that ran for most of the samples' weight: samples get rarer as a block gets older,
 * so each counts for the time it stands for.
 */
export function sampledCode(samples: readonly WeightedSample[]): SampledCode {
  const candidates = new Map<string, Candidate>();
  let total = 0;
  for (const sample of samples) {
    const location = blockingFunctionIn(sample);
    if (location === undefined) continue;
    const { weight } = sample;
    total += weight;
    const key = `${location.functionName} ${location.file}`;
    const known = candidates.get(key);
    if (known !== undefined) known.weight += weight;
    else candidates.set(key, { sample, location, functionName: location.functionName, weight });
  }
  const byWeight = [...candidates.values()].sort((a, b) => b.weight - a.weight);
  const heaviest = byWeight[0];
  if (heaviest === undefined) return { samples: samples.length };
  const { functionName, file, line, column } = heaviest.location;
  return {
    samples: samples.length,
    code: {
      functionName,
      ...(file !== undefined && { file: toPath(file) }),
      ...(line !== undefined && { line }),
      ...(column !== undefined && { column }),
      stackTrace: stackTraceOf(heaviest.sample),
    },
    ...(samples.length >= MIN_SAMPLES_FOR_SHARES && {
      topFunctions: byWeight
        .slice(0, MAX_SHARES)
        .map(({ functionName, weight }) => ({ functionName, share: weight / total })),
    }),
  };
}
