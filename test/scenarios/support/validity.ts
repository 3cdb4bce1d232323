/** Whether the machine gave an app the CPU while it was measured; see `scenario.ts`. */
import type { Run, SpanLine, Truth } from './run-app.ts';
import { VoidMeasurement } from './scenario.ts';

/** The part of the tolerances for lengths and positions (6 and 8 ms) that waiting for a CPU may use up. */
const AROUND_TRUTH_MILLIS = 3;
/** The share of a block for which every thread has to have a CPU, if it wants one. */
const NAMING_RATIO = 0.25;
/** The witness shares no CPU with the app: what it notes matters only where it is long. */
const MACHINE_STALL_MILLIS = 15;

interface Of {
  pid: number;
  thread: number;
}

/** At most how long the thread waited for a CPU between two moments: from the last reading before to the first after. */
export function runDelayBetween(run: Run, of: Of, fromMillis: number, toMillis: number): number {
  const own = run.readings.filter(({ pid, thread }) => pid === of.pid && thread === of.thread);
  const before = own.findLast(({ atMillis }) => atMillis <= fromMillis)?.delayMillis ?? 0;
  const after = own.find(({ atMillis }) => atMillis >= toMillis) ?? own.at(-1);
  if (after?.delayMillis === undefined) return stalledBetween(run, fromMillis, toMillis, 0);
  const stalled = stalledBetween(run, fromMillis, toMillis, MACHINE_STALL_MILLIS);
  return Math.max(after.delayMillis - before, stalled);
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
 * Why a truth and the span of its block cannot be compared: the thread had no CPU between the moment
 * at which the one was measured and the moment at which the other was. Where there is no span, why the
 * block may have been none: less than the threshold is left of it without the time that it had no CPU.
 */
export function voidTruth(run: Run, truth: Truth, block: SpanLine | undefined): string | undefined {
  if (block === undefined) {
    const inside = runDelayBetween(run, truth, truth.startMillis, truth.endMillis);
    if (truth.durationMillis - inside >= thresholdOf(run)) return undefined;
    return `${truth.durationMillis.toFixed(1)} ms, ${inside.toFixed(1)} of them without a CPU`;
  }
  const before = delayInGap(run, truth, block.startMillis, truth.startMillis);
  const after = delayInGap(run, truth, truth.endMillis, block.endMillis);
  if (before + after <= AROUND_TRUTH_MILLIS) return undefined;
  return `waited for a CPU for ${before.toFixed(1)} ms before and ${after.toFixed(1)} ms after it`;
}

/** It cannot have been longer than the time between the two moments. */
const delayInGap = (run: Run, of: Of, fromMillis: number, toMillis: number) =>
  toMillis <= fromMillis
    ? 0
    : Math.min(toMillis - fromMillis, runDelayBetween(run, of, fromMillis, toMillis));

/**
 * Why a block may go without a function, or with the wrong one: a thread of the process, and it may be
 * the watchdog thread, was kept from taking stack samples for a good part of the block.
 */
export function voidNaming(run: Run, block: SpanLine | Truth): string | undefined {
  const readings = run.readings.filter(
    ({ pid, threads }) => pid === block.pid && threads !== undefined,
  );
  const before = readings.findLast(({ atMillis }) => atMillis <= block.startMillis)?.threads ?? {};
  const after = readings.find(({ atMillis }) => atMillis >= block.endMillis)?.threads;
  if (after === undefined) return undefined;
  const delays = Object.entries(after).map(([id, millis]) => millis - (before[id] ?? 0));
  const longest = Math.max(0, ...delays);
  if (longest <= block.durationMillis * NAMING_RATIO) return undefined;
  return `in ${block.durationMillis.toFixed(1)} ms, a thread waited ${longest.toFixed(1)} ms for a CPU`;
}

const thresholdOf = (run: Run) => Number(run.notes['thresholdMillis']);

/** A block that nothing explains but that its thread had no CPU: without that, it had not reached the threshold. */
export function voidBlock(run: Run, block: SpanLine): string | undefined {
  const delay = runDelayBetween(run, block, block.startMillis, block.endMillis);
  if (block.durationMillis - delay >= thresholdOf(run)) return undefined;
  return `a block of ${block.durationMillis.toFixed(1)} ms, ${delay.toFixed(1)} of them without a CPU`;
}

/** Throws where the thread waited for a CPU for longer than that in all, from its first to its last reading. */
export function requireRunDelayBelow(run: Run, millis: number, of = 'the run'): void {
  const [first] = run.readings;
  if (first === undefined) return;
  const delay = runDelayBetween(run, first, first.atMillis, run.readings.at(-1)?.atMillis ?? 0);
  if (delay >= millis) throw new VoidMeasurement(`${of}: ${delay.toFixed(1)} ms without a CPU`);
}
