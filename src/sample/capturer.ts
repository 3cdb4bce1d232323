/**
 * Takes stack samples, inside what runs: it only copies, and no function of the application's runs.
 * No regular expression may run here: see stack.ts.
 */

import type { NativeCall, RunningResource, StackFrame, StackSample } from '../block.ts';
import { LATE_MILLIS } from '../name/weights.ts';
import { activeContext } from '../otel/active-context.ts';
import type { Clock } from '../support/clock.ts';
import { CAPTURE_URL, type TakenStack, takeStack } from './stack.ts';

/** The functions copy from the running code; the values that they return are read later. */
export interface CapturerPorts {
  isLatest(busyPeriodStart: number): boolean;
  /** When the latest busy period began; NaN if none has. */
  periodStart(): number;
  mayWait(): boolean;
  wasWaitingAt(time: number): boolean | undefined;
  resource(): RunningResource;
  /** The wrapped built-in that is running, if one is: read with the frames of the sample. */
  nativeCall(): (frames: readonly StackFrame[], isLate: boolean) => NativeCall | undefined;
  add(sample: StackSample): void;
}

export interface CapturedSample extends StackSample {
  /** The answer of {@link TakenStack.showsCode}. */
  showsCode(): boolean;
}

export class Capturer {
  constructor(
    private readonly clock: Clock,
    private readonly ports: CapturerPorts,
  ) {}

  /**
   * @param busyPeriodStart the busy period that is meant
   * @param requestedAt when the watchdog thread asked, a time of the clock
   * @returns undefined if that busy period is over, or the loop is waiting; not if native code has
   *   just kept the answer waiting, which in a running period is a part of that
   */
  capture(busyPeriodStart: number, requestedAt: number): CapturedSample | undefined {
    const { ports } = this;
    const askedAt = Math.max(requestedAt, ports.periodStart());
    const isLate = this.clock.now() - askedAt >= LATE_MILLIS;
    if (!isLate && !ports.isLatest(busyPeriodStart)) return undefined;
    const stack = takeStack();
    const isWaiting = () => !isLate || ports.wasWaitingAt(askedAt) === true;
    if (ports.mayWait() && stack.isEmpty() && isWaiting()) return undefined;
    const sample = this.sample(requestedAt, stack);
    ports.add(sample);
    return sample;
  }

  /**
   * Copies what is running, to be read after the block. The copy keeps the functions on the stack
   * and the async resource alive until the first callback after the next wait for events, which
   * drops the samples that are of no block.
   */
  sample(requestedAt: number, stack = takeStack()): CapturedSample {
    const time = this.clock.now();
    const resource = this.ports.resource();
    const readCall = this.ports.nativeCall();
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
        frames ??= withoutCapture(stack.frames());
        return frames;
      },
      get nativeCall() {
        return readCall(this.frames, time - requestedAt >= LATE_MILLIS);
      },
    };
  }
}

/** The frames outside the capture itself, which runs inside them. */
function withoutCapture(frames: StackFrame[]): StackFrame[] {
  const last = frames.findLastIndex(({ file }) => file === CAPTURE_URL);
  return frames.slice(last + 1);
}
