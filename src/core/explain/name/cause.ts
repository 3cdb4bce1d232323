/**
 * Finds the value of `event_loop.block.cause`: what took most of a block.
 *
 * Guarantees: it is pure, and says nothing rather than something that is not known.
 */
import type { Block } from '../../../block.ts';
import type { BlockCause } from '../../../types.ts';
import type { SampledCode } from './describe-code.ts';

/** V8 frees what collected objects held in a later task: seen up to 200 ms after the collection. */
export const MAX_FREEING_MILLIS = 500;

export interface BlockTimes {
  readonly durationMillis: number;
  /**
   * CPU time of the thread. Without `process.threadCpuUsage` (before Node.js 22.19, 23.9; see
   * `Clock.cpuIsOfThread`) that of the process: it is never less, so `waiting` is then a lower
   * bound. Work of other threads hides it; it goes to `native` or `javascript`.
   */
  readonly cpuTimeMillis?: number | undefined;
  /** See `Block.lackedCpu`. */
  readonly lackedCpuMillis?: number | undefined;
  readonly gcTimeMillis?: number | undefined;
  /** See `SampledCode.nativeTimeMillis`; absent if there was no sample. */
  readonly nativeTimeMillis?: number | undefined;
  /** The garbage collection in it; if that is not known, all of `gcTimeMillis` that fits. */
  readonly gcInNativeTimeMillis?: number | undefined;
  /** No stack sample found code that can be named. */
  readonly isCodeUnknown?: boolean;
  /** Native code ran between callbacks, without JavaScript, soon after a garbage collection. */
  readonly isAfterCollection?: boolean;
}

/** Reads the collections as soon as a block is reported; NaN if they are not known. */
export function collectionsAround(
  { kind, start, end }: Pick<Block, 'kind' | 'start' | 'end'>,
  gcWithin: (from: number, until: number) => number,
) {
  const lately = kind === 'callback' ? 0 : gcWithin(start - MAX_FREEING_MILLIS, end);
  return { gcTimeMillis: gcWithin(start, end), isAfterCollection: lately > 0 };
}

export function causeOfBlock(
  { start, end, cpu, lackedCpu }: Pick<Block, 'start' | 'end' | 'cpu' | 'lackedCpu'>,
  { code, topFunctions, nativeCall, isOutsideJavaScript, isMessage, ...sampled }: SampledCode,
  gc?: ReturnType<typeof collectionsAround>,
): BlockCause | undefined {
  if (isMessage) return 'message';
  const cause = causeOf({
    ...sampled,
    durationMillis: end - start,
    cpuTimeMillis: cpu,
    lackedCpuMillis: lackedCpu,
    gcTimeMillis: gc?.gcTimeMillis,
    isCodeUnknown: code === undefined && topFunctions === undefined,
    isAfterCollection: gc?.isAfterCollection === true && isOutsideJavaScript === true,
  });
  // Node.js runs some built-ins in pieces, between which JavaScript can be interrupted.
  return cause === 'javascript' && nativeCall !== undefined ? 'native' : cause;
}

/**
 * The block's length is divided in this order, each part out of what is left:
 *
 * 1. the time that is not its own, since the thread or one that it waited for lacked a CPU: that
 *    is no cause;
 * 2. `gc`: what garbage collection took, as far as the thread had a CPU: the clock goes on in a
 *    collection that lacks one, so 1 is subtracted from it in proportion;
 * 3. `waiting`: what is longer than the CPU time (a thread uses at most as much CPU as a collection
 *    lasts);
 * 4. `native`: the time in which JavaScript could not be interrupted, less the garbage collection
 *    in it, less 1 and 3, in which JavaScript cannot answer, either; if no sample found code, all
 *    that is left (many short native calls, as of TLS handshakes);
 * 5. `javascript`: the remainder.
 *
 * The cause is:
 *
 * 1. `waiting` if that took more than half of the block, less 1 above;
 * 2. without any sample, `gc` if that took more than half of the time with a CPU, else undefined:
 *    native code and JavaScript cannot be distinguished;
 * 3. `gc` if that took half of the time with a CPU, else the larger of the others;
 * 4. `gc` instead of `native` if `isAfterCollection`: after a collection V8 frees what the
 *    collected objects held, in a task that no callback is around and that Node.js does not count
 *    as collection (`Intl` objects: 60 ms and more).
 */
export function causeOf(times: BlockTimes): BlockCause | undefined {
  const { durationMillis: total, nativeTimeMillis } = times;
  if (!(total > 0)) return undefined;
  const cpu = within(times.cpuTimeMillis ?? total, total);
  const lackedCpu = within(times.lackedCpuMillis ?? 0, total - cpu);
  const hadCpu = total - lackedCpu;
  const withCpu = hadCpu / total;
  const collected = within(times.gcTimeMillis ?? 0, total);
  const gc = collected * withCpu;
  // A collection waits for V8's threads.
  const waiting = Math.max(0, hadCpu - Math.max(cpu, collected));
  if (waiting * 2 > hadCpu) return 'waiting';
  if (nativeTimeMillis === undefined) return gc * 2 > hadCpu ? 'gc' : undefined;
  const gcInNative = Math.min(gc, (times.gcInNativeTimeMillis ?? total) * withCpu);
  const ran = hadCpu - gc - waiting;
  const native = times.isCodeUnknown
    ? ran
    : within(nativeTimeMillis - gcInNative - lackedCpu - waiting, ran);
  if (gc * 2 >= hadCpu) return 'gc';
  if (native < ran - native) return 'javascript';
  return times.isAfterCollection === true ? 'gc' : 'native';
}

/** Limits a value to 0 and `most`; NaN counts as 0. */
function within(value: number, most: number): number {
  return value > 0 ? Math.min(value, most) : 0;
}
