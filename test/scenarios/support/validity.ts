/** Whether the machine gave an app the CPU while it was measured; see `scenario.ts`. */
import type { Run, SpanLine, Truth } from './run-app.ts';
import { VoidMeasurement } from './scenario.ts';
import type { Stall } from './witness.ts';

/**
 * The part of the tolerances for lengths and positions (6 and 8 ms) that waiting for a CPU may use
 * up.
 */
const AROUND_TRUTH_MILLIS = 3;
/** What the package reads of it and what an app reads may differ by so much. */
const READING_MILLIS = 5;
/** How much longer the parts of a block may get, in all, without being blocks of their own. */
const PART_MILLIS = 20;
/** The witness shares no CPU with the app: what it notes matters only where it is long. */
const MACHINE_STALL_MILLIS = 15;

/** The kernel counts what a thread has run in ticks: so much may not be counted yet. */
export const TICK_MILLIS = 4;

interface Of {
  pid: number;
  thread: number;
}

/**
 * At most how long a thread that had work to do went without a CPU between two moments: it waited
 * for one, from the last reading before to the first after; or it did not run, since CPUs were
 * taken away from the whole machine, which is no run delay.
 */
export function withoutCpuBetween(run: Run, of: Of, fromMillis: number, toMillis: number): number {
  const own = run.readings.filter(({ pid, thread }) => pid === of.pid && thread === of.thread);
  const before = own.findLast(({ atMillis }) => atMillis <= fromMillis);
  const after = own.find(({ atMillis }) => atMillis >= toMillis) ?? own.at(-1);
  const stolen = stolenBetween(run, fromMillis, toMillis);
  if (after?.delayMillis === undefined)
    return Math.max(stolen, stalledBetween(run, fromMillis, toMillis, 0));
  const waited = after.delayMillis - (before?.delayMillis ?? 0);
  // It may have run outside of the two moments, too: it lacked at least so much.
  const ran = (after.cpuMillis ?? Number.NaN) - (before?.cpuMillis ?? 0);
  const lacked = toMillis - fromMillis - ran - TICK_MILLIS || 0;
  const stalled = stalledBetween(run, fromMillis, toMillis, MACHINE_STALL_MILLIS);
  return Math.max(waited + stolen, lacked, stalled);
}

function stalledBetween(
  run: Run,
  fromMillis: number,
  toMillis: number,
  leastMillis: number,
): number {
  return run.stalls
    .filter((stall) => stall.toMillis - stall.fromMillis > leastMillis)
    .map((stall) => Math.min(stall.toMillis, toMillis) - Math.max(stall.fromMillis, fromMillis))
    .reduce((sum, millis) => sum + Math.max(0, millis), 0);
}

/**
 * Of both CPUs of the machine, and known to within the time between two readings of the witness.
 */
function stolenBetween(run: Run, fromMillis: number, toMillis: number): number {
  return run.stolen
    .map((theft) => {
      const inside = Math.min(theft.toMillis, toMillis) - Math.max(theft.fromMillis, fromMillis);
      return Math.min(theft.millis, Math.max(0, inside));
    })
    .reduce((sum, millis) => sum + millis, 0);
}

/**
 * Why a truth and the span of its block cannot be compared: the thread had no CPU between the
 * moment at which the one was measured and the moment at which the other was. Or why the block may
 * have been none, or one with more around it only: less than the threshold is left of it without
 * the time that it had no CPU.
 */
export function voidTruth(run: Run, truth: Truth, blocks: readonly SpanLine[]): string | undefined {
  const inside = withoutCpuBetween(run, truth, truth.startMillis, truth.endMillis);
  const [block] = blocks;
  const isShort = truth.durationMillis - inside < thresholdOf(run) + READING_MILLIS;
  if (isShort && (block === undefined || inside > AROUND_TRUTH_MILLIS)) {
    return `${truth.durationMillis.toFixed(1)} ms, ${inside.toFixed(1)} of them without a CPU`;
  }
  if (block === undefined) return undefined;
  // Its parts were to be shorter than the threshold. That a millisecond is not reported twice is
  // judged elsewhere.
  const isPart = blocks.length > 1 || block.durationMillis < truth.durationMillis - PART_MILLIS;
  // What ran is known in ticks only: of its end, more may be missing than it lacked.
  if (isPart && inside > PART_MILLIS / 2) {
    return `in ${blocks.length} parts, ${inside.toFixed(1)} ms without a CPU in them`;
  }
  const before = delayInGap(run, truth, block.startMillis, truth.startMillis);
  const after = delayInGap(run, truth, truth.endMillis, block.endMillis);
  // It waits for V8's threads, which may have no CPU: that is no run delay of its own.
  const gc = Number(block.attributes['event_loop.block.gc_time'] ?? 0) * 1000;
  const around = Math.max(
    0,
    truth.startMillis - block.startMillis,
    block.endMillis - truth.endMillis,
  );
  const collected = Math.min(gc, around);
  if (Math.max(before + after, collected) <= AROUND_TRUTH_MILLIS) return undefined;
  const waited = `${before.toFixed(1)} ms before and ${after.toFixed(1)} ms after it`;
  return `waited for a CPU for ${waited}, ${collected.toFixed(1)} ms for garbage collection`;
}

/**
 * As {@link withoutCpuBetween}: it cannot have been longer than the time between the two moments.
 */
export const delayInGap = (run: Run, of: Of, fromMillis: number, toMillis: number) =>
  toMillis <= fromMillis
    ? 0
    : Math.min(toMillis - fromMillis, withoutCpuBetween(run, of, fromMillis, toMillis));

/**
 * Why a block may go without a function, or with the wrong one: its own thread, and another one of
 * the process, which may be the watchdog thread, had a CPU for less of the block than the
 * threshold.
 */
export function voidNaming(run: Run, block: SpanLine | Truth): string | undefined {
  const readings = run.readings.filter(
    ({ pid, threads }) => pid === block.pid && threads !== undefined,
  );
  const before = readings.findLast(({ atMillis }) => atMillis <= block.startMillis)?.threads ?? {};
  const after = readings.find(({ atMillis }) => atMillis >= block.endMillis)?.threads;
  const delays = Object.entries(after ?? {}).map(([id, millis]) => millis - (before[id] ?? 0));
  const lacked = withoutCpuBetween(run, block, block.startMillis, block.endMillis);
  // What runs is sampled if both have a CPU.
  const longest = lacked + Math.max(0, ...delays);
  if (block.durationMillis - longest >= thresholdOf(run) + READING_MILLIS) return undefined;
  return `in ${block.durationMillis.toFixed(1)} ms, its threads waited ${longest.toFixed(1)} ms for a CPU`;
}

const DEFAULT_THRESHOLD_MILLIS = 100;
const thresholdOf = (run: Run) => Number(run.notes['thresholdMillis'] ?? DEFAULT_THRESHOLD_MILLIS);

/**
 * A block that nothing explains but that its thread had no CPU: without that, it had not reached
 * the threshold. What the machine takes away from outside is no run delay: if Node.js counts the
 * thread's own CPU time (22.19), too little of that shows it. No app waits without saying so.
 */
export function voidBlock(run: Run, block: SpanLine): string | undefined {
  const delay = withoutCpuBetween(run, block, block.startMillis, block.endMillis);
  const cpu = Number(block.attributes['event_loop.block.cpu_time']) * 1000;
  const lacked = Math.max(delay, block.durationMillis - cpu || 0);
  if (block.durationMillis - lacked >= thresholdOf(run)) return undefined;
  return `a block of ${block.durationMillis.toFixed(1)} ms, ${lacked.toFixed(1)} of them without a CPU`;
}

/**
 * How long the threads of the process were kept waiting from then on, for a CPU, a disk, or a lock
 * of the kernel, or the witness was: no app says what it waits for while it ends, and its first
 * thread waits for the others.
 */
export function stalledSince(run: Run, fromMillis: number): number {
  const before = run.delays.findLast(({ atMillis }) => atMillis <= fromMillis) ?? run.delays[0];
  const waited = (run.delays.at(-1)?.threadsMillis ?? 0) - (before?.threadsMillis ?? 0);
  const stolen = stolenBetween(run, fromMillis, Number.POSITIVE_INFINITY);
  return Math.max(waited + stolen, stalledBetween(run, fromMillis, Number.POSITIVE_INFINITY, 0));
}

/** How late the witness was in all. */
export const lateOf = (stalls: readonly Stall[]): number =>
  stalls.reduce((sum, { fromMillis, toMillis }) => sum + toMillis - fromMillis, 0);

/**
 * How long the app's first thread went without a CPU in all; of an app that does not say, as seen
 * from outside, or how late the witness was.
 */
export function runDelayOf(run: Run): number {
  const stolen = run.stolen.reduce((sum, { millis }) => sum + millis, 0);
  const [first] = run.readings;
  const isFirst = ({ pid, thread }: Of) => pid === first?.pid && thread === first.thread;
  const last = run.readings.findLast(isFirst);
  if (first?.delayMillis === undefined || last?.delayMillis === undefined)
    return Math.max(stolen + (run.delays.at(-1)?.delayMillis ?? 0), lateOf(run.stalls));
  const lacked = run.truths
    .filter((truth) => isFirst(truth) && truth.waits !== true)
    .map(lackedIn)
    .filter((millis) => millis > MACHINE_STALL_MILLIS)
    .reduce((sum, millis) => sum + millis, 0);
  const stalled = stalledBetween(run, first.atMillis, last.atMillis, MACHINE_STALL_MILLIS);
  return Math.max(last.delayMillis - first.delayMillis + stolen, lacked, stalled);
}

/** How much longer the work took than its thread ran. */
const lackedIn = ({ durationMillis, cpuAtStartMillis, cpuAtEndMillis }: Truth): number =>
  durationMillis - (cpuAtEndMillis ?? Number.NaN) + (cpuAtStartMillis ?? Number.NaN) || 0;

/**
 * For figures of a whole run, which waiting for a CPU can only make worse: they are void when they
 * do not pass and the app waited for longer than `limitMillis`. Where they pass in spite of it, the
 * test passes.
 */
export function judgeUnlessDelayed(
  delayMillis: number,
  limitMillis: number,
  judge: () => void,
): void {
  try {
    judge();
  } catch (error) {
    if (error instanceof VoidMeasurement || delayMillis <= limitMillis) throw error;
    throw new VoidMeasurement(`was kept waiting for ${delayMillis.toFixed(1)} ms in all`, error);
  }
}
