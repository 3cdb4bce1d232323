/**
 * The stacks of a block's samples for other tools: `cpu-profile.ts` makes a CPU profile of them.
 *
 * Guarantees: each stack stands for the milliseconds of its samples; this package's own frames are
 * in none.
 */
import type { WeightedSample } from '../../../block.ts';
import { toPath } from '../../../support/file-url.ts';
import type { SampledFrame, SampledStack } from '../../../types.ts';
import type { OriginOf } from './in-app.ts';
import { ANONYMOUS } from './stack-path.ts';
import { LATE_MILLIS } from './weights.ts';

export function sampledStacks(
  samples: readonly WeightedSample[],
  originOf: OriginOf,
): SampledStack[] {
  return samples
    .map((sample) => ({ frames: framesOf(sample, originOf), millis: sample.weight }))
    .filter(({ frames }) => frames.length > 0);
}

function framesOf(
  { frames, requestedAt, time, nativeCall }: WeightedSample,
  originOf: OriginOf,
): SampledFrame[] {
  const running = frames.filter(({ isOwn }) => !isOwn);
  const isLate = time - requestedAt >= LATE_MILLIS;
  // This function has only just been called: its caller kept the sample waiting.
  const isNew = isLate && running.length > 1 && running[0]?.isAtEntry === true;
  const stack = (isNew ? running.slice(1) : running).map((frame) => ({
    name: frame.functionName ?? (frame.file === undefined ? frame.text : ANONYMOUS),
    file: frame.file === undefined ? '' : toPath(frame.file),
    line: frame.line ?? 0,
    functionLine: frame.functionLine ?? 0,
    ...(frame.builtFile !== undefined && { builtFile: frame.builtFile }),
    ...(frame.file !== undefined && originOf(frame.file) === 'app' && { inApp: true as const }),
  }));
  if (nativeCall === undefined) return stack;
  return [{ name: nativeCall.name, file: '', line: 0, functionLine: 0 }, ...stack];
}
