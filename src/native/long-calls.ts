/**
 * Calls that are known to be long before they begin, by the size of their input or by what they do:
 * their call site is taken at entry, so that it is the call's own line, and so that a process which
 * hangs in the call has left behind what made it.
 */
import type { NativeCall, StackFrame } from '../block.ts';
import type { Faults } from '../otel/diag-once.ts';
import { captureStack } from '../sample/stack.ts';
import { inProgress, UNKNOWN_SIZE } from './in-progress.ts';

export interface LongCall extends NativeCall {
  /**
   * The callers, innermost first: line and column of the first frame are those of the call
   * itself.
   */
  readonly frames: readonly StackFrame[];
  /** How many calls were in progress when it began: it is inside all of them. */
  readonly depth: number;
}

/** Called synchronously, next to the call: what it throws is noted in `faults`. */
export interface LongCallListener {
  entered(call: LongCall): void;
  /** The call returned or threw. What was entered inside it and not left, V8 has ended half-way. */
  left(call: LongCall): void;
  /** No call is in progress: V8 has ended half-way what was entered and not left. */
  emptied?(): void;
  readonly faults: Faults;
}

/** The call, to be given to {@link leave}; undefined without a listener. Cannot throw. */
export function enter(name: string, size: number, depth: number): Entered | undefined {
  const { listener } = inProgress;
  if (listener === undefined) return undefined;
  try {
    const frames = captureStack();
    const caller = frames.findIndex(({ isOwn }) => !isOwn);
    const call: LongCall = {
      name,
      size: size === UNKNOWN_SIZE ? undefined : size,
      frames: caller === -1 ? [] : frames.slice(caller),
      depth,
    };
    listener.entered(call);
    return { call, listener };
  } catch (error) {
    listener.faults.inHook ??= error;
    return undefined;
  }
}

/** The listener may be another one by the end of the call. */
export interface Entered {
  readonly call: LongCall;
  readonly listener: LongCallListener;
}

/** Cannot throw. */
export function leave({ call, listener }: Entered): void {
  try {
    listener.left(call);
  } catch (error) {
    listener.faults.inHook ??= error;
  }
}
