/** Stacks without a process: innermost first, as V8 has them. */
import type { StackFrame } from '../../../../src/block.ts';
import type { TimedSample } from '../../../../src/core/explain/name/weights.ts';

/**
 * `name (file:line)`; the name is empty for an anonymous function. Functions begin at line
 * `begins`, by default 1.
 */
export function frame(
  functionName: string,
  file: string | undefined,
  line = 10,
  { begins = 1, ...more }: Partial<StackFrame> & { begins?: number } = {},
): StackFrame {
  return {
    functionName: functionName === '' ? undefined : functionName,
    file,
    line,
    column: 5,
    functionLine: begins,
    functionColumn: 1,
    isAsync: false,
    isOwn: false,
    isAtEntry: false,
    isEvaluated: false,
    isBuiltin: file === undefined,
    text: `${functionName} (${file}:${line}:5)`,
    ...more,
  };
}

export const builtin = (name: string) => frame(name, undefined);
export const evaluated = (name: string) =>
  frame(name, undefined, 3, {
    isBuiltin: false,
    isEvaluated: true,
    text: `${name} (eval at compile (/app/engine.js:1:1), <anonymous>:3:1)`,
  });
export const awaiting = (name: string, file: string, line = 10) =>
  frame(name, file, line, { isAsync: true });
export const entered = (name: string, file: string) => frame(name, file, 1, { isAtEntry: true });
export const own = (name: string) => frame(name, '/app/bundle.js', 10, { isOwn: true });

export const sample = (
  requestedAt: number,
  time: number,
  ...frames: StackFrame[]
): TimedSample => ({
  requestedAt,
  time,
  frames,
});
/** Answered at once. */
export const prompt = (time: number, ...frames: StackFrame[]) => sample(time, time, ...frames);
