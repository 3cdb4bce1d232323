/** From what captures saw in a block to who held the loop. */
import type { WeightedSample } from '../loop/stack-samples.ts';
import { toPath } from '../support/file-url.ts';
import type { BlockingCode, FunctionShare } from '../types.ts';

/** With fewer captures a share would say more than is known. */
const MIN_SAMPLES_FOR_SHARES = 3;
const MAX_SHARES = 5;

interface Candidate {
  readonly sample: WeightedSample;
  readonly functionName: string;
  weight: number;
}

/** What a block's captures amount to. */
export interface SeenCode {
  readonly samples: number;
  readonly code?: BlockingCode;
  readonly topFunctions?: readonly FunctionShare[];
}

/**
 * The function that captures saw most often. Captures get rarer as a block gets older, so each counts for the time it
 * stands for.
 */
export function seenCode(samples: readonly WeightedSample[]): SeenCode {
  const candidates = new Map<string, Candidate>();
  let total = 0;
  for (const sample of samples) {
    const { culprit, weight } = sample;
    if (culprit === undefined) continue;
    total += weight;
    const key = `${culprit.functionName} ${culprit.file}`;
    const known = candidates.get(key);
    if (known !== undefined) known.weight += weight;
    else candidates.set(key, { sample, functionName: culprit.functionName, weight });
  }
  const byWeight = [...candidates.values()].sort((a, b) => b.weight - a.weight);
  const heaviest = byWeight[0]?.sample;
  if (heaviest?.culprit === undefined) return { samples: samples.length };
  const { functionName, file, line, column } = heaviest.culprit;
  return {
    samples: samples.length,
    code: {
      functionName,
      ...(file !== undefined && { file: toPath(file) }),
      ...(line !== undefined && { line }),
      ...(column !== undefined && { column }),
      stackTrace: heaviest.stackTrace,
    },
    ...(samples.length >= MIN_SAMPLES_FOR_SHARES && {
      topFunctions: byWeight
        .slice(0, MAX_SHARES)
        .map(({ functionName, weight }) => ({ functionName, share: weight / total })),
    }),
  };
}
