import type { Context } from '@opentelemetry/api';
import type { StackFrame, StackSample } from '../../../src/block.ts';

export function stackFrame(functionName: string, line = 1, more: Partial<StackFrame> = {}) {
  const file = `/app/${functionName}.js`;
  return {
    functionName,
    file,
    line,
    column: 1,
    isAsync: false,
    isOwn: false,
    functionLine: 1,
    functionColumn: 1,
    isAtEntry: false,
    isEvaluated: false,
    isBuiltin: false,
    text: `${functionName} (${file}:${line}:1)`,
    ...more,
  } satisfies StackFrame;
}

/** A stack sample that was answered at once; of no user code without a `functionName`. */
export function stackSample(time: number, context: Context, functionName?: string, line = 1) {
  return {
    requestedAt: time,
    time,
    context,
    resourceType: undefined,
    frames: functionName === undefined ? [] : [stackFrame(functionName, line)],
  } satisfies StackSample;
}
