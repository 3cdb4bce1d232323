/** Which frame of a stack says who holds the loop. */
import type { CodeLocation, StackFrame, StackSample } from '../block.ts';

/** Where Node.js calls hooks from. */
const ASYNC_HOOKS = 'node:internal/async_hooks';

export const ANONYMOUS = '<anonymous>';

/** V8 answers in JavaScript within 1 ms; what takes longer was native code, or had no CPU. */
const LATE_MILLIS = 3;

/** Running code of the application or of a package, with a place to look at. */
function isUserCode({ file, isAsync, isOwn }: StackFrame): boolean {
  return !isAsync && !isOwn && file !== undefined && !file.startsWith('node:');
}

/** `eval` and `new Function` without a source URL: user code, but without a place. */
function isEvaluated({ text, isAsync }: StackFrame): boolean {
  return !isAsync && text.includes('eval at ');
}

/**
 * The innermost frame that is neither Node.js' own nor this package's, or undefined where no user
 * code is running. StackFrames that only wait for what runs (`await`) do not count.
 *
 * V8 captures in JavaScript at once, but after a native call (`JSON.parse`) only when the next
 * function is called. With `late`, a frame that has only just been called is therefore not what
 * ran: its caller is.
 *
 * An anonymous function that a builtin calls (`rows.map((row) => ...)`) is told by the name of the
 * function around it, where that is the one that called the builtin; file, line and column stay its
 * own.
 */
export function blockingFunctionOf(
  stack: readonly StackFrame[],
  late: boolean,
): CodeLocation | undefined {
  const frames = withoutOwnHook(stack);
  let at = frames.findIndex(isUserCode);
  if (late && at === 0 && frames[0]?.isAtEntry === true) {
    const caller = frames.findIndex((frame, i) => i > 0 && isUserCode(frame));
    if (caller !== -1) at = caller;
  }
  if (at === -1) at = frames.findIndex(isEvaluated);
  const frame = frames[at];
  if (frame === undefined) return undefined;
  return {
    functionName: frame.functionName ?? nameAround(frames, at) ?? ANONYMOUS,
    file: frame.file,
    line: frame.line,
    column: frame.column,
  };
}

/** What our hooks call, OpenTelemetry's API for one, runs on our account. */
function withoutOwnHook(frames: readonly StackFrame[]): readonly StackFrame[] {
  const hook = frames.findIndex(({ isOwn }, i) => isOwn && frames[i + 1]?.file === ASYNC_HOOKS);
  return hook === -1 ? frames : frames.slice(hook + 1);
}

function nameAround(frames: readonly StackFrame[], at: number): string | undefined {
  const { file } = frames[at] as StackFrame;
  let i = at;
  for (;;) {
    const caller = frames[i + 1];
    const next = frames[i + 2];
    const throughBuiltin = caller !== undefined && !caller.isAsync && caller.file === undefined;
    if (!throughBuiltin || next === undefined || next.isAsync || next.file !== file)
      return undefined;
    if (next.functionName !== undefined) return next.functionName;
    i += 2;
  }
}

/** The blocking function as one stack sample shows it. */
export function blockingFunctionIn(sample: StackSample): CodeLocation | undefined {
  return blockingFunctionOf(sample.frames, sample.time - sample.requestedAt >= LATE_MILLIS);
}

/** The stack of a sample as V8 writes it, one frame a line. */
export function stackTraceOf({ frames }: StackSample): string {
  return frames.map(({ text }) => `    at ${text}`).join('\n');
}
