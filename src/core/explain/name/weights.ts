/**
 * Gives each stack sample its part of the block.
 *
 * Guarantees: the weights of a block's samples are never negative and add up to its length, and all
 * time from the request of a sample to its arrival belongs to what it found running.
 * The rules 1 and 2 of src/core/explain/name/README.md say why.
 */
import type { NativeCall, StackFrame } from '../../../block.ts';

/** JavaScript answers within 1 ms; what takes longer than this was native code, or had no CPU. */
export const LATE_MILLIS = 3;

/** One stack sample. Times are those of `Clock.now()`. */
export interface TimedSample {
  /** When the watchdog thread asked for it; NaN if that is not known. */
  readonly requestedAt: number;
  /** When it was taken; after the end of the block if no answer came before that. */
  readonly time: number;
  /** Innermost first, without those of the capture itself. */
  readonly frames: readonly StackFrame[];
  /** The wrapped built-in that was running, if one was. */
  readonly nativeCall?: NativeCall | undefined;
}

/** The part of the block that a sample stands for, in milliseconds. */
export interface SampleWeight<S extends TimedSample = TimedSample> {
  readonly sample: S;
  /** True if the answer was late: a native call, garbage collection, or no CPU. */
  readonly isLate: boolean;
  /**
   * False if it was taken after the block: its frames are of other code, and what ran is not known.
   */
  readonly isInside: boolean;
  /** Milliseconds until the arrival; `after` has those from then on. */
  readonly before: number;
  readonly after: number;
  /** Milliseconds until the arrival, at `until`, in which JavaScript could not be interrupted. */
  readonly uninterrupted: number;
  readonly until: number;
}

/**
 * The samples that say something about the block from `start` to `end`, by time: those taken in it,
 * and the one that was asked for in it and came late, after its end.
 */
export function weigh<S extends TimedSample>(
  samples: readonly S[],
  start: number,
  end: number,
): SampleWeight<S>[] {
  const relevant = samples
    .filter(({ requestedAt, time }) =>
      time <= end ? time >= start : requestedAt < end && isLateBy(time - requestedAt),
    )
    .sort((a, b) => a.time - b.time);
  /** Up to here, time was given out, but for the gap up to the next request. */
  let until = start;
  return relevant.map((sample, i) => {
    const [from, to] = waitOf(sample, until, end);
    const next = relevant[i + 1];
    const gapBefore = i === 0 ? from - until : (from - until) / 2;
    const gapAfter = next === undefined ? end - to : (waitOf(next, to, end)[0] - to) / 2;
    const isLate = isLateBy(sample.time - sample.requestedAt);
    const waited = to - from;
    until = to;
    return {
      sample,
      isLate,
      isInside: sample.time <= end,
      before: gapBefore + waited,
      after: gapAfter,
      uninterrupted: isLate ? waited + Math.min(waited, gapBefore) : 0,
      until,
    };
  });
}

const isLateBy = (millis: number) => millis >= LATE_MILLIS;

/**
 * From request to arrival, as far as it lies between `from` and `end`. The two threads' clocks
 * differ by a little.
 */
function waitOf({ requestedAt, time }: TimedSample, from: number, end: number): [number, number] {
  const to = Math.max(from, Math.min(time, end));
  const asked = Number.isNaN(requestedAt) ? to : Math.min(requestedAt, to);
  return [Math.max(from, asked), to];
}
