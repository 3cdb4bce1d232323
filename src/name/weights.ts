/**
 * Which part of a block each stack sample stands for.
 *
 * Guarantees: the weights of a block's samples are never negative and add up to its length, and all
 * time from the request of a sample to its arrival belongs to what it found running.
 *
 * JavaScript answers a request within a millisecond, a native call only when it has returned. So a
 * sample that arrives late speaks of two moments: of what ran from the request on, and of what came
 * next. What ran between the arrival of a sample and the request of the next one is known only at
 * its two ends: each gets a half.
 */
import type { NativeCall, StackFrame } from '../block.ts';

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

/** What a sample stands for in a block, in milliseconds. */
export interface SampleWeight<S extends TimedSample = TimedSample> {
  readonly sample: S;
  /** It came late: a native call, garbage collection, or no CPU. */
  readonly isLate: boolean;
  /**
   * It was taken inside the block. Otherwise its frames are not the block's: what ran is not known.
   */
  readonly isInside: boolean;
  /** Up to its arrival. */
  readonly before: number;
  /** From its arrival on. */
  readonly after: number;
  /** Time up to the arrival in which JavaScript could not be interrupted: it ends at `until`. */
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
