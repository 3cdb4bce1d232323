/** Whether the machine gave an app the CPU while it was measured; see `scenario.ts`. */
import type { Run, SpanLine, Truth } from './run-app.ts';
import { VoidMeasurement } from './scenario.ts';

/** The part of the tolerances for lengths and positions (6 and 8 ms) that waiting for a CPU may use up. */
const AROUND_TRUTH_MILLIS = 3;
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

function stalledBetween(run: Run, fromMillis: number, toMillis: number, leastMillis: number): number {
  return run.stalls
    .filter((stall) => stall.toMillis - stall.fromMillis > leastMillis)
    .map((stall) => Math.min(stall.toMillis, toMillis) - Math.max(stall.fromMillis, fromMillis))
    .reduce((sum, millis) => sum + Math.max(0, millis), 0);
}

/** Why the start and end of a truth cannot be compared with a span, if the thread had no CPU right around it. */
export function voidTruth(run: Run, truth: Truth): string | undefined {
  const before = runDelayBetween(run, truth, truth.startMillis - 0.001, truth.startMillis);
  const after = runDelayBetween(run, truth, truth.endMillis, truth.endMillis + 0.001);
  if (before + after <= AROUND_TRUTH_MILLIS) return undefined;
  return `waited for a CPU for ${before.toFixed(1)} ms before and ${after.toFixed(1)} ms after it`;
}

/** A block that nothing explains but that its thread had no CPU: without that, it had not reached the threshold. */
export function voidBlock(run: Run, block: SpanLine): string | undefined {
  const delay = runDelayBetween(run, block, block.startMillis, block.endMillis);
  if (block.durationMillis - delay >= Number(run.notes['thresholdMillis'])) return undefined;
  return `a block of ${block.durationMillis.toFixed(1)} ms, ${delay.toFixed(1)} of them without a CPU`;
}

/** Throws where the thread waited for a CPU for longer than that in all, from its first to its last reading. */
export function requireRunDelayBelow(run: Run, millis: number, of = 'the run'): void {
  const [first] = run.readings;
  if (first === undefined) return;
  const delay = runDelayBetween(run, first, first.atMillis, run.readings.at(-1)?.atMillis ?? 0);
  if (delay >= millis) throw new VoidMeasurement(`${of}: ${delay.toFixed(1)} ms without a CPU`);
}
