/**
 * Takes stack samples, inside what runs: it only copies, and no function of the application's runs.
 * No regular expression may run here: see stack.ts.
 */

import type { NativeCall, RunningResource, StackFrame, StackSample } from '../../block.ts';
import { activeContext } from '../../otel/active-context.ts';
import type { Clock } from '../../support/clock.ts';
import { beginsMessage } from '../explain/name/stack-path.ts';
import { LATE_MILLIS } from '../explain/name/weights.ts';
import { CAPTURE_URL, type TakenStack, takeStack } from './stack.ts';

/** The ledger, as far as a stack sample asks it. */
export interface SampledLedger {
  readonly iterations: { readonly busyPeriodStart: number; mayWait(): boolean };
  isLatest(busyPeriodStart: number): boolean;
  wasWaitingAt(time: number): boolean | undefined;
  add(sample: StackSample): void;
}

export interface CapturedSample extends StackSample {
  /** The answer of {@link TakenStack.showsCode}. */
  showsCode(): boolean;
}

export class Capturer {
  /**
   * What the functions copy from the running code is read later; `takeNativeCall` copies the
   * wrapped built-in that is running, if one is.
   */
  constructor(
    private readonly clock: Clock,
    private readonly ledger: SampledLedger,
    private readonly takeResource: () => RunningResource,
    private readonly takeNativeCall: () => (
      frames: readonly StackFrame[],
      isLate: boolean,
    ) => NativeCall | undefined,
  ) {}

  /**
   * @param busyPeriodStart the busy period that is meant
   * @param requestedAt when the watchdog thread asked, a time of the clock
   * @returns undefined if that busy period is over, or the loop is waiting; not if native code has
   *   just kept the answer waiting, which in a running period is a part of that
   */
  capture(busyPeriodStart: number, requestedAt: number): CapturedSample | undefined {
    const { ledger } = this;
    const askedAt = Math.max(requestedAt, ledger.iterations.busyPeriodStart);
    const isLate = this.clock.now() - askedAt >= LATE_MILLIS;
    if (!isLate && !ledger.isLatest(busyPeriodStart)) return undefined;
    const stack = takeStack();
    const resource = this.takeResource();
    // The loop cannot be waiting if a callback runs.
    const mayWait = resource.asyncId === 0 && ledger.iterations.mayWait();
    const isWaiting = () => !isLate || ledger.wasWaitingAt(askedAt) === true;
    if (mayWait && stack.isEmpty() && isWaiting()) return undefined;
    const sample = this.sample(requestedAt, stack, resource);
    ledger.add(sample);
    return sample;
  }

  /**
   * Copies what is running, to be read after the block. The copy keeps the functions on the stack
   * and the async resource alive until the first callback after the next wait for events, which
   * drops the samples that are of no block.
   */
  sample(requestedAt: number, stack = takeStack(), resource = this.takeResource()): CapturedSample {
    const time = this.clock.now();
    const readCall = this.takeNativeCall();
    let frames: StackFrame[] | undefined;
    return {
      requestedAt,
      time,
      context: activeContext(),
      showsCode: () => stack.showsCode(),
      asyncId: resource.asyncId,
      get drain() {
        return resource.drain();
      },
      get resourceType() {
        return resource.type();
      },
      get frames() {
        frames ??= withSender(withoutCapture(stack.frames()), resource);
        return frames;
      },
      get nativeCall() {
        return readCall(this.frames, time - requestedAt >= LATE_MILLIS);
      },
    };
  }
}

/** Whoever has started what sent a message awaits it. */
function withSender(frames: StackFrame[], { sender }: RunningResource): StackFrame[] {
  return beginsMessage(frames) ? [...frames, ...(sender?.() ?? [])] : frames;
}

/** The frames outside the capture itself, which runs inside them. */
function withoutCapture(frames: StackFrame[]): StackFrame[] {
  const last = frames.findLastIndex(({ file }) => file === CAPTURE_URL);
  return frames.slice(last + 1);
}
