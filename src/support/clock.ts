/**
 * Everything that reads a clock is given a {@link Clock}, so that unit tests run on a fake one and
 * assert exact numbers.
 *
 * Cost of a read on Node.js 20 to 26: `now` 37 to 68 ns, `idle` 24 to 36 ns, `loopCount` 15 ns (26)
 * to 66 ns (20 to 24), `cpu` 290 ns (thread) and 550 ns (process).
 */
import { dateNow, nodeTiming, now } from './time.ts';

const timing = nodeTiming as typeof nodeTiming & {
  uvMetricsInfo?: { loopCount: number };
};
const threadCpuUsage = (process as { threadCpuUsage?: () => NodeJS.CpuUsage }).threadCpuUsage?.bind(
  process,
);
const cpuUsage = threadCpuUsage ?? process.cpuUsage.bind(process);

/**
 * Electron's own loop waits for the events of Node.js' loop, in all processes that have a type:
 * libuv counts its iterations, and never a wait.
 */
const waitsElsewhere = 'electron' in process.versions && 'type' in process;

/**
 * Whether the iterations of the loop and its waits are counted: Node.js 20.18, 22.8 and later. Bun
 * and Deno have the properties for waits, without the values.
 */
export const canCountIterations =
  typeof timing.uvMetricsInfo?.loopCount === 'number' && !waitsElsewhere;

/**
 * Two clocks are read one after the other: it takes a microsecond, unless the thread is
 * interrupted.
 */
const MAX_READING_MILLIS = 0.5;

/**
 * Unix time minus `now()`, alike for all clocks of a thread. `Date.now()` is cut to whole
 * milliseconds: the largest of many readings is the best.
 */
let epochOffset = dateNow() - now();

/** The real clock of this thread. Times are in milliseconds from the start of the process. */
export class SystemClock {
  #lostWaits = 0;
  /**
   * Whether Node.js counts the thread's own CPU time: `process.threadCpuUsage`, Node.js 22.19 and
   * 23.9.
   */
  readonly cpuIsOfThread: boolean = threadCpuUsage !== undefined;

  /** Monotonic time: `performance.now()`. */
  now(): number {
    return now();
  }

  /** Time the loop has spent waiting for events. NaN if that is not counted. */
  idle(): number {
    return canCountIterations ? timing.idleTime : Number.NaN;
  }

  /**
   * {@link idle} with the waits that it leaves out, as far as the ledger has found them: libuv
   * forgets how long it waited if a signal interrupts the wait.
   */
  waited(): number {
    return this.idle() + this.#lostWaits;
  }

  /** The loop has waited for events for `millis` that {@link idle} leaves out. */
  addLostWait(millis: number): void {
    this.#lostWaits += millis;
  }

  loopCount(): number {
    return (timing.uvMetricsInfo as { loopCount: number }).loopCount;
  }

  /** False until the main script has run to its end and the loop turns. */
  loopStarted(): boolean {
    return timing.loopStart >= 0;
  }

  /**
   * CPU time of this thread if {@link cpuIsOfThread}, else of the whole process: never less than
   * that.
   */
  cpu(): number {
    const usage = cpuUsage();
    return (usage.user + usage.system) / 1000;
  }

  /** Unix time of the moment `time` (a value of `now`). */
  epoch(time: number): number {
    return epochOffset + time;
  }

  /** Call it now and then: keeps `epoch` true when the wall clock is adjusted. */
  syncEpoch(): void {
    const before = now();
    const date = dateNow();
    const after = now();
    // The machine took the CPU away in between: the two readings do not belong together.
    if (after - before > MAX_READING_MILLIS) return;
    const offset = date - after;
    // Lower by more than the cut millisecond: the wall clock was set back, or runs slower than
    // ours.
    if (offset > epochOffset || offset < epochOffset - 1) epochOffset = offset;
  }
}

/** What a unit test's clock is, too. */
export type Clock = Pick<SystemClock, keyof SystemClock>;
