/**
 * The stacks of a block's samples for other tools: here folded, one a line; `cpu-profile.ts` makes
 * a CPU profile of them.
 *
 * Guarantees: each stack stands for the milliseconds of its samples; this package's own frames are
 * in none.
 */
import type { WeightedSample } from '../block.ts';
import { toPath } from '../support/file-url.ts';
import { ANONYMOUS } from './stack-path.ts';
import { LATE_MILLIS } from './weights.ts';

/** Blocks with more samples than this have stacks worth a picture. */
export const MIN_STACKS = 5;

export interface SampledFrame {
  readonly name: string;
  readonly file: string;
  readonly line: number;
  readonly functionLine: number;
}

export interface SampledStack {
  /** Innermost first. */
  readonly frames: readonly SampledFrame[];
  readonly millis: number;
}

export function sampledStacks(samples: readonly WeightedSample[]): SampledStack[] {
  return samples
    .map((sample) => ({ frames: framesOf(sample), millis: sample.weight }))
    .filter(({ frames }) => frames.length > 0);
}

function framesOf({ frames, requestedAt, time, nativeCall }: WeightedSample): SampledFrame[] {
  const running = frames.filter(({ isOwn }) => !isOwn);
  const isLate = time - requestedAt >= LATE_MILLIS;
  // This function has only just been called: its caller kept the sample waiting.
  const isNew = isLate && running.length > 1 && running[0]?.isAtEntry === true;
  const stack = (isNew ? running.slice(1) : running).map((frame) => ({
    name: frame.functionName ?? (frame.file === undefined ? frame.text : ANONYMOUS),
    file: frame.file === undefined ? '' : toPath(frame.file),
    line: frame.line ?? 0,
    functionLine: frame.functionLine ?? 0,
  }));
  if (nativeCall === undefined) return stack;
  return [{ name: nativeCall.name, file: '', line: 0, functionLine: 0 }, ...stack];
}

/**
 * `main (app.js:3);render (list.js:7) 140`, outermost first, with whole milliseconds; the heaviest
 * stacks first, as many as fit.
 */
export function foldedStacks(stacks: readonly SampledStack[], maxLength: number): string {
  const millisOf = new Map<string, number>();
  for (const { frames, millis } of stacks) {
    const line = frames.map(labelOf).reverse().join(';');
    millisOf.set(line, (millisOf.get(line) ?? 0) + millis);
  }
  const lines: string[] = [];
  let length = 0;
  for (const [line, millis] of [...millisOf].sort(([, a], [, b]) => b - a)) {
    const text = `${line} ${Math.max(1, Math.round(millis))}`;
    length += text.length + 1;
    if (length > maxLength) break;
    lines.push(text);
  }
  return lines.join('\n');
}

/** Nothing in a name may end the frame or the line. */
function labelOf({ name, file, line }: SampledFrame): string {
  const label = file === '' ? name : `${name} (${file}:${line})`;
  return label.split(';').join(',').split('\n').join(' ');
}
