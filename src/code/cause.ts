/**
 * What took most of a block: the value of `event_loop.block.cause`. Promises: pure; says nothing
 * rather than something that is not known.
 */

import type { BlockCause } from '../types.ts';

export interface BlockTimes {
  readonly durationMillis: number;
  /**
   * CPU time of the thread. Without `process.threadCpuUsage` (before Node.js 22.19, 23.9), where
   * `Clock.cpuIsOfThread` is false, that of the process: it is never less, so `waiting` is then a
   * lower bound. Work of other threads hides it; it goes to `native` or `javascript`.
   */
  readonly cpuTimeMillis?: number | undefined;
  readonly gcTimeMillis?: number | undefined;
  /** See `SampledCode.nativeTimeMillis`; absent where there was no sample. */
  readonly nativeTimeMillis?: number | undefined;
  /** Of it, garbage collection; where that is not known, all of `gcTimeMillis` that fits. */
  readonly gcInNativeTimeMillis?: number | undefined;
}

/**
 * The block's length is divided in this order, each part out of what is left:
 *
 * 1. `gc`: what garbage collection took, which is measured;
 * 2. `waiting`: the length less `gc`, less the CPU time that exceeds `gc` (a thread uses at most as
 *    much CPU as a collection lasts);
 * 3. `native`: the time in which JavaScript could not be interrupted, less the garbage collection
 *    in it, less `waiting`, which is spent inside native calls or cannot be answered in either;
 * 4. `javascript`: the remainder.
 *
 * The largest is the cause; of equal ones the first in this order. Without any sample, native code
 * and JavaScript cannot be distinguished: the cause is then `gc` or `waiting` if that took more
 * than half of the block, else undefined.
 */
export function causeOf(times: BlockTimes): BlockCause | undefined {
  const { durationMillis: total, nativeTimeMillis } = times;
  if (!(total > 0)) return undefined;
  const gc = within(times.gcTimeMillis ?? 0, total);
  const cpuOutsideGc = Math.max(0, (times.cpuTimeMillis ?? total) - gc);
  const waiting = within(total - gc - cpuOutsideGc, total - gc);
  if (nativeTimeMillis === undefined) {
    if (gc * 2 > total) return 'gc';
    return waiting * 2 > total ? 'waiting' : undefined;
  }
  const gcInNative = Math.min(gc, times.gcInNativeTimeMillis ?? gc);
  const native = within(nativeTimeMillis - gcInNative - waiting, total - gc - waiting);
  const javascript = total - gc - waiting - native;
  const most = Math.max(gc, waiting, native, javascript);
  if (gc === most) return 'gc';
  if (waiting === most) return 'waiting';
  return native === most ? 'native' : 'javascript';
}

/** 0 to `most`; NaN counts as 0. */
function within(value: number, most: number): number {
  return value > 0 ? Math.min(value, most) : 0;
}
