/** Takes stack samples, inside what runs. NO REGULAR EXPRESSION may run here: see stack.ts. */
import { context } from '@opentelemetry/api';
import type { NativeCall, StackFrame, StackSample } from '../block.ts';
import { hasUserCode } from '../code/user-code.ts';
import { LATE_MILLIS } from '../code/weights.ts';
import type { Clock } from '../support/clock.ts';
import { CAPTURE_URL, captureStack } from './stack.ts';

/** Where samples go, and what is asked about the running code. */
export interface CapturerPorts {
  /** As those of the ledger. */
  isLatest(busyPeriodStart: number): boolean;
  hasWaited(): boolean;
  /** Type of the async resource that is running. */
  resourceType(): string | undefined;
  /** The wrapped built-in that is running, if one is. Called inside the capture. */
  nativeCall(frames: readonly StackFrame[], isLate: boolean): NativeCall | undefined;
  add(sample: StackSample): void;
}

export class Capturer {
  constructor(
    private readonly clock: Clock,
    private readonly ports: CapturerPorts,
  ) {}

  /**
   * @param busyPeriodStart the busy period that is meant
   * @param requestedAt when the watchdog thread asked, a time of the clock
   * @returns undefined where that busy period is over, or the loop is waiting
   */
  capture(busyPeriodStart: number, requestedAt: number): StackSample | undefined {
    if (!this.ports.isLatest(busyPeriodStart)) return undefined;
    const sample = this.sample(requestedAt);
    if (this.ports.hasWaited() && !hasUserCode(sample.frames)) return undefined;
    this.ports.add(sample);
    return sample;
  }

  /** What runs now, whatever that is. */
  sample(requestedAt: number): StackSample {
    const time = this.clock.now();
    const frames = withoutCapture(captureStack());
    return {
      requestedAt,
      time,
      context: context.active(),
      resourceType: this.ports.resourceType(),
      frames,
      nativeCall: this.ports.nativeCall(frames, time - requestedAt >= LATE_MILLIS),
    };
  }
}

/** The frames outside the capture itself, which runs inside them. */
function withoutCapture(frames: StackFrame[]): StackFrame[] {
  const last = frames.findLastIndex(({ file }) => file === CAPTURE_URL);
  return frames.slice(last + 1);
}
