/** What the rules of today say of a recording, for the tests and `npm run check -- explain`. */
import type { StackFrame } from '../../../src/block.ts';
import type { Evidence as Recording } from '../../../src/core/emit/evidence.ts';
import { causeOfBlock, collectionsAround } from '../../../src/core/explain/name/cause.ts';
import { describeCode } from '../../../src/core/explain/name/describe-code.ts';
import { createOriginOf } from '../../../src/core/explain/name/in-app.ts';
import { assumePackages } from '../../../src/core/explain/name/packages.ts';

const NO_FLAGS = {
  isAsync: false,
  isOwn: false,
  isAtEntry: false,
  isEvaluated: false,
  isBuiltin: false,
  passesOn: false,
};

export function explain(recording: Recording) {
  const { packages, files, origins, cwd, mainFile, inApp, collections } = recording;
  assumePackages(
    packages.map(({ folder, dependsOn }) => [
      folder,
      dependsOn?.map((i) => packages[i]?.folder as string),
    ]),
  );
  const frames = recording.frames.map((frame): StackFrame => {
    const file = frame.file === undefined ? undefined : files[frame.file];
    const { functionName, line, column } = frame;
    const text = `${functionName ?? '<anonymous>'} (${file ?? '<anonymous>'}:${line}:${column})`;
    return { ...NO_FLAGS, ...frame, file, text: frame.text ?? text };
  });
  const samples = recording.samples.map(({ requestedAt = Number.NaN, ...sample }) => ({
    ...sample,
    requestedAt,
    frames: sample.frames.map((i) => frames[i] as StackFrame),
  }));
  const gcWithin = (from: number, until: number) => {
    if (collections === undefined) return Number.NaN;
    const within = collections.map(([a, b]) => Math.min(b, until) - Math.max(a, from));
    return within.reduce((sum, millis) => sum + Math.max(0, millis), 0);
  };
  const ofPaths = createOriginOf({ cwd, mainFile, inApp });
  const originOf = (file: string) => origins?.[files.indexOf(file)] ?? ofPaths(file);
  const block = { ...recording, start: 0, end: recording.durationMillis };
  const sampled = describeCode(samples, block.start, block.end, {
    originOf,
    cwd,
    gcWithin,
    lackedCpuMillis: block.lackedCpu,
  });
  return { ...sampled, cause: causeOfBlock(block, sampled, collectionsAround(block, gcWithin)) };
}

/** One line: what a block is named by, its innermost function and its cause. */
export function outcomeOf(
  { code, leaf, cause }: Pick<Recording['said'], 'code' | 'leaf' | 'cause'>,
  { cwd }: Pick<Recording, 'cwd'>,
): string {
  const place = code && `${code.functionName} ${code.file?.replace(`${cwd}/`, '')}:${code.line}`;
  return [place ?? 'no name', leaf && `leaf ${leaf.functionName}`, cause ?? 'no cause']
    .filter((part) => part !== undefined)
    .join(', ');
}
