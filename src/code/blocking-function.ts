/** Which frame of a stack says who holds the loop. */
import type { Frame } from '../watchdog/stack.ts';

/** The function that was running: the name to tell, and where it was. */
export interface Culprit {
  /** {@link ANONYMOUS} where neither it nor the function around it has a name. */
  readonly functionName: string;
  /** Path or URL. */
  readonly file: string | undefined;
  readonly line: number | undefined;
  readonly column: number | undefined;
}

/** Where Node.js calls hooks from. */
const ASYNC_HOOKS = 'node:internal/async_hooks';

export const ANONYMOUS = '<anonymous>';

/** Running code of the application or of a package, with a place to look at. */
function isUserCode({ file, isAsync, isOwn }: Frame): boolean {
  return !isAsync && !isOwn && file !== undefined && !file.startsWith('node:');
}

/** `eval` and `new Function` without a source URL: user code, but without a place. */
function isEvaluated({ text, isAsync }: Frame): boolean {
  return !isAsync && text.includes('eval at ');
}

/**
 * The innermost frame that is neither Node.js' own nor this package's, or undefined where no user code is running. Frames that
 * only wait for what runs (`await`) do not count.
 *
 * V8 captures in JavaScript at once, but after a native call (`JSON.parse`) only when the next function is called. With `late`, a
 * frame that has only just been called is therefore not what ran: its caller is.
 *
 * An anonymous function that a builtin calls (`rows.map((row) => ...)`) is told by the name of the function around it, where that
 * is the one that called the builtin; file, line and column stay its own.
 */
export function culpritOf(stack: readonly Frame[], late: boolean): Culprit | undefined {
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
function withoutOwnHook(frames: readonly Frame[]): readonly Frame[] {
  const hook = frames.findIndex(({ isOwn }, i) => isOwn && frames[i + 1]?.file === ASYNC_HOOKS);
  return hook === -1 ? frames : frames.slice(hook + 1);
}

function nameAround(frames: readonly Frame[], at: number): string | undefined {
  const { file } = frames[at] as Frame;
  let i = at;
  for (;;) {
    const caller = frames[i + 1];
    const next = frames[i + 2];
    const throughBuiltin = caller !== undefined && !caller.isAsync && caller.file === undefined;
    if (!throughBuiltin || next === undefined || next.isAsync || next.file !== file) return undefined;
    if (next.functionName !== undefined) return next.functionName;
    i += 2;
  }
}
